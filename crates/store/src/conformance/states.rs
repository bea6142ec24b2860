//! States: each with the instants true in it, moved on from the version it was decided on.

use tessera_model::order::{Order, OrderState};

use super::Fixture;
use crate::orders::Advance;

async fn read(fixture: &Fixture, order: &Order) -> Order {
    fixture.read(async |tx| tx.orders_read(&[order.id]).await).await.pop().expect("the order")
}

/// Through every state and back out of those that a late payment leaves, no instant is lost or left behind.
pub async fn every_state_is_read_as_it_was_written(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let (paid_at, issued_at) = (fixture.ago(40), fixture.ago(30));
    let (refund_due_at, refunded_at, closed_at) = (fixture.ago(20), fixture.ago(10), fixture.ago(50));
    let issued = Some(issued_at);
    let lives = [
        vec![
            OrderState::Expired { closed_at },
            OrderState::Paid { paid_at },
            OrderState::Backordered { paid_at },
            OrderState::Issued { paid_at, issued_at },
            OrderState::RefundDue { paid_at, issued_at: issued, refund_due_at },
            OrderState::Refunded { paid_at, issued_at: issued, refund_due_at, refunded_at },
        ],
        vec![
            OrderState::Cancelled { closed_at },
            OrderState::Paid { paid_at },
            OrderState::RefundDue { paid_at, issued_at: None, refund_due_at },
            OrderState::Refunded { paid_at, issued_at: None, refund_due_at, refunded_at },
        ],
    ];
    for life in lives {
        let mut order = fixture.place("ann", &[(&product, 1)]).await;
        for state in life {
            order = fixture.advance(&order, state).await;
            assert_eq!(read(fixture, &order).await, order);
        }
    }
}

/// Each order of a set is raised from its own version, by one.
pub async fn advance_raises_an_orders_own_version_by_one(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let young = fixture.place("ann", &[(&product, 1)]).await;
    let mut old = fixture.place("bob", &[(&product, 1)]).await;
    for _ in 0..3 {
        old = fixture.advance(&old, old.state).await;
    }
    let state = OrderState::Cancelled { closed_at: fixture.now() };
    let advances = [&old, &young].map(|o| Advance { id: o.id, version: o.version, state });
    let mut moved = fixture.write(async |tx| tx.orders_advance(&advances).await).await;
    moved.sort();
    assert_eq!(moved, [young.id, old.id]);
    assert_eq!((young.version, old.version), (1, 4));
    assert_eq!((read(fixture, &young).await.version, read(fixture, &old).await.version), (2, 5));
}

/// Of a set, those that somebody else moved meanwhile stay as they are, and are not returned.
pub async fn stale_version_moves_nothing(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let before = fixture.place("ann", &[(&product, 1)]).await;
    let after = fixture.advance(&before, OrderState::Cancelled { closed_at: fixture.now() }).await;
    let fresh = fixture.place("bob", &[(&product, 1)]).await;
    let state = OrderState::Paid { paid_at: fixture.now() };
    let advances = [&before, &fresh].map(|o| Advance { id: o.id, version: o.version, state });
    let moved = fixture.write(async |tx| tx.orders_advance(&advances).await).await;
    assert_eq!(moved, [fresh.id]);
    assert_eq!(read(fixture, &before).await, after);
    let ahead = Advance { id: after.id, version: after.version + 1, state };
    assert_eq!(fixture.write(async |tx| tx.orders_advance(&[ahead]).await).await, []);
}

/// Waiters see every move by the version alone.
pub async fn versions_tell_of_every_move(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place_paid("ann", &[(&product, 1)]).await;
    let versions = fixture.read(async |tx| tx.orders_versions(&[order.id]).await).await;
    assert_eq!(versions, [(order.id, 2)]);
}
