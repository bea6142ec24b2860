//! What is looked through again and again: holds that ended, paid orders that nobody was told of.

use std::slice::from_ref;

use tessera_model::ids::OrderId;
use tessera_model::order::OrderState;

use super::Fixture;
use super::letters::letter_about;
use super::shop::HOLD;
use crate::letters::LetterState;

/// Holds are due from the instant they end on, the oldest first, while their order is unpaid.
pub async fn ended_holds_are_due_oldest_first(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut orders = vec![];
    for name in ["ann", "bob", "cid", "dan"] {
        orders.push(fixture.place(name, &[(&product, 1)]).await);
        fixture.clock.set(fixture.later(10));
    }
    fixture.advance(&orders[1], OrderState::Paid { paid_at: fixture.now() }).await;
    let third_ends = orders[2].created_at.plus(HOLD);
    let due =
        async |at, limit| -> Vec<OrderId> { fixture.read(async |tx| tx.orders_due(at, limit).await).await };
    assert_eq!(due(fixture.now(), 10).await, []);
    assert_eq!(due(third_ends, 10).await, [orders[0].id, orders[2].id]);
    assert_eq!(due(third_ends, 1).await, [orders[0].id]);
    fixture.advance(&orders[0], OrderState::Expired { closed_at: fixture.now() }).await;
    assert_eq!(due(third_ends, 10).await, [orders[2].id]);
}

async fn unheard(fixture: &Fixture, seconds_ago: u64, limit: i64) -> Vec<OrderId> {
    let found = fixture.read(async |tx| tx.orders_unheard(fixture.ago(seconds_ago), limit).await).await;
    found.into_iter().map(|(order, _)| order).collect()
}

/// A paid order is unheard once it was paid before the bound; the oldest comes first.
pub async fn paid_orders_are_unheard_oldest_first(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let first = fixture.place_paid("ann", &[(&b, 1), (&a, 1)]).await;
    fixture.clock.set(fixture.later(10));
    let second = fixture.place_paid("bob", &[(&b, 1)]).await;
    fixture.place("cid", &[(&a, 1)]).await;
    assert_eq!(unheard(fixture, 10, 9).await, []);
    assert_eq!(unheard(fixture, 9, 9).await, [first.id]);
    fixture.clock.set(fixture.later(1));
    let both = fixture.read(async |tx| tx.orders_unheard(fixture.now(), 9).await).await;
    assert_eq!(both, [(first.id, a.id), (second.id, b.id)]);
    assert_eq!(unheard(fixture, 0, 1).await, [first.id]);
}

/// An order that was told is unheard again when that is longer ago than the bound.
pub async fn told_order_is_unheard_again_later(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let first = fixture.place_paid("ann", &[(&product, 1)]).await;
    let second = fixture.place_paid("bob", &[(&product, 1)]).await;
    fixture.clock.set(fixture.later(10));
    fixture.write(async |tx| tx.orders_told(&[first.id]).await).await;
    assert_eq!(unheard(fixture, 5, 9).await, [second.id]);
    fixture.clock.set(fixture.later(10));
    assert_eq!(unheard(fixture, 5, 9).await, [second.id, first.id]);
    let versions = fixture.read(async |tx| tx.orders_versions(&[first.id]).await).await;
    assert_eq!(versions, [(first.id, first.version)], "telling changes nothing that a waiter sees");
}

/// Of orders told at once, whoever paid first comes first, whatever the order they were placed in.
pub async fn told_at_once_are_unheard_as_they_paid(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let paid_last = fixture.place("ann", &[(&product, 1)]).await;
    let paid_first = fixture.place("bob", &[(&product, 1)]).await;
    for order in [&paid_first, &paid_last] {
        fixture.clock.set(fixture.later(10));
        fixture.advance(order, OrderState::Paid { paid_at: fixture.now() }).await;
    }
    fixture.write(async |tx| tx.orders_told(&[paid_last.id, paid_first.id]).await).await;
    fixture.clock.set(fixture.later(10));
    assert_eq!(unheard(fixture, 5, 9).await, [paid_first.id, paid_last.id]);
}

/// An order that is paid no more is nobody's to tell.
pub async fn only_paid_orders_are_unheard(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 1).await;
    let issued = fixture.place_paid("ann", &[(&product, 1)]).await;
    fixture.issue(&issued, batch, 0, 1).await;
    let waiting = fixture.place_paid("bob", &[(&product, 1)]).await;
    fixture.backorder(&waiting, &[&product]).await;
    fixture.clock.set(fixture.later(10));
    assert_eq!(unheard(fixture, 0, 9).await, []);
}

/// A live letter keeps the sweeper off its order; one that is settled does not.
pub async fn letter_keeps_the_sweeper_off(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut orders = vec![];
    for state in LetterState::ALL {
        let order = fixture.place_paid("ann", &[(&product, 1)]).await.id;
        let letter = crate::letters::Letter { state, ..letter_about(fixture, Some(order)) };
        fixture.write(async |tx| tx.letters_put(from_ref(&letter)).await).await;
        orders.push(order);
    }
    fixture.clock.set(fixture.later(10));
    assert_eq!(unheard(fixture, 0, 9).await, orders[2..]);
    fixture.write(async |tx| tx.letters_resolve(&orders[..1]).await).await;
    let mut found = unheard(fixture, 0, 9).await;
    found.sort();
    assert_eq!(found, [orders[0], orders[2], orders[3]]);
}
