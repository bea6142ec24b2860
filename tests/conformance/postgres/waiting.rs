//! What each operation sees when it had to wait for a lock: what the winner committed, or nothing of it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tessera_model::ids::{BatchId, LetterId, OrderId, ProductId};
use tessera_model::order::{OrderState, OrderStatus};
use tessera_model::span::{Span, SpanKind};
use tessera_model::text::CustomerId;
use tessera_orders::pay::Incoming;
use tessera_store::letters::{Letter, LetterState};
use tessera_store::orders::{Advance, KnownRequest};
use tessera_store::payments::Payment;
use tessera_store::{Clock, Result, StoreError, Tx};
use tessera_testbed::{Engine, Shop};

mod again;
mod bounds;
mod deciding;
mod importing;

/// The longest a test waits for anything before it fails.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// How a winner ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Commits,
    RollsBack,
}

pub(super) const ENDS: [End; 2] = [End::Commits, End::RollsBack];

pub(super) async fn open() -> Shop {
    Shop::open_on(Engine::Postgres).await
}

pub(super) async fn begin(shop: &Shop) -> Box<dyn Tx> {
    shop.store.begin().await.expect("a transaction begins")
}

/// Asks the server until `count` of the database's sessions wait for a lock.
pub(super) async fn until_blocked(shop: &Shop, count: i64) {
    let blocked = "SELECT count(*) FROM pg_stat_activity \
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let asking = async { while shop.number(blocked).await != count {} };
    tokio::time::timeout(PATIENCE, asking).await.expect("nobody waits for a lock");
}

/// Lets a waiter run into the winner's locks, ends the winner, and returns what the waiter saw.
async fn after_waiting<T: Send + 'static>(
    shop: &Shop,
    winner: Box<dyn Tx>,
    end: End,
    waiter: impl Future<Output = Result<T>> + Send + 'static,
) -> T {
    let waiting = tokio::spawn(waiter);
    until_blocked(shop, 1).await;
    match end {
        End::Commits => winner.commit().await.expect("the winner commits"),
        End::RollsBack => drop(winner),
    }
    let seen = tokio::time::timeout(PATIENCE, waiting).await.expect("the waiter waits for ever");
    seen.expect("the waiter ends").expect("the waiter does its work")
}

/// A shop with a product.
async fn with_product() -> (Shop, ProductId) {
    let shop = open().await;
    let product = shop.product("card", |_| ()).await;
    (shop, product)
}

/// A shop with an order that nobody paid.
async fn with_order() -> (Shop, OrderId) {
    let (shop, _) = with_product().await;
    shop.stock("card", 5).await;
    let order = shop.place("ann", &[("card", 1)]).await;
    (shop, order)
}

fn request(shop: &Shop, order: OrderId, body: u8) -> KnownRequest {
    let new = shop.keyed(shop.new_order("ann", &[("card", 1)]), 1, body);
    KnownRequest { request: new.request.expect("a key"), order }
}

#[tokio::test]
async fn request_that_waited_is_known_once_the_winner_commits() {
    for end in ENDS {
        let (shop, order) = with_order().await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        let (first, second) = (request(&shop, order, 1), request(&shop, order, 2));
        winner.requests_claim(&[first], shop.clock.now()).await.expect("it is free");
        let stale = shop.clock.now();
        let (claimed, known) = after_waiting(&shop, winner, end, async move {
            let claimed = waiter.requests_claim(&[second], stale).await?;
            Ok((claimed, waiter.requests_read(&[second.request.key]).await?))
        })
        .await;
        match end {
            End::Commits => assert_eq!((claimed, known), (vec![], vec![first])),
            End::RollsBack => assert_eq!((claimed, known), (vec![second.request.key], vec![second])),
        }
        shop.close().await;
    }
}

fn payment(shop: &Shop, minor: i64) -> Payment {
    match shop.notice("acme", "the-reference", "an-order", minor, "CNY") {
        Incoming::Notice { payment, .. } => payment,
        Incoming::Test(_) => unreachable!("it is a notice"),
    }
}

#[tokio::test]
async fn payment_that_waited_is_known_once_the_winner_commits() {
    for end in ENDS {
        let shop = open().await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        let (first, second) = (payment(&shop, 1), payment(&shop, 2));
        winner.payments_claim(std::slice::from_ref(&first)).await.expect("it is new");
        let (again, name) = (second.clone(), (second.provider.clone(), second.reference.clone()));
        let (claimed, known) = after_waiting(&shop, winner, end, async move {
            let claimed = waiter.payments_claim(&[again]).await?;
            Ok((claimed, waiter.payments_known(&[name]).await?))
        })
        .await;
        match end {
            End::Commits => assert_eq!((claimed, known), (vec![], vec![first])),
            End::RollsBack => assert_eq!((claimed, known), (vec![second.id], vec![second])),
        }
        // Nothing was committed after the winner, and the winner gave no entries.
        if end == End::Commits {
            shop.operate("DELETE FROM payment").await;
        }
        shop.close().await;
    }
}

#[tokio::test]
async fn stock_that_was_waited_for_is_read_as_the_winner_left_it() {
    for end in ENDS {
        let (shop, product) = with_product().await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        winner.stock_lock(&[product]).await.expect("it is free");
        winner.stock_move(&[(product, 5)]).await.expect("the claim rises");
        let stock = after_waiting(&shop, winner, end, async move {
            waiter.stock_lock(&[product]).await?;
            waiter.stock_read(&[product]).await
        })
        .await;
        assert_eq!(stock[0].1.claimed, if end == End::Commits { 5 } else { 0 });
        shop.operate("UPDATE stock SET claimed = 0").await;
        shop.close().await;
    }
}

#[tokio::test]
async fn a_refused_customer_is_not_forgotten_by_those_who_wait_for_it() {
    let (shop, product) = with_product().await;
    let bob = CustomerId::parse("bob").unwrap();
    // Left by a process of another version, say: nobody's order refers to it.
    let mut tx = begin(&shop).await;
    tx.customers_lock(std::slice::from_ref(&bob)).await.unwrap();
    tx.commit().await.unwrap();

    let mut winner = begin(&shop).await;
    winner.customers_lock(std::slice::from_ref(&bob)).await.unwrap();
    let (store, waiter) = (Arc::clone(&shop.store), bob.clone());
    let waiting = tokio::spawn(async move {
        let mut tx = store.begin().await?;
        tx.customers_lock(std::slice::from_ref(&waiter)).await?;
        tx.customers_move(&[(waiter, product, 1)]).await?;
        tx.commit().await
    });
    // The row was there when the waiter looked whether to insert it.
    until_blocked(&shop, 1).await;
    winner.customers_forget(std::slice::from_ref(&bob)).await.unwrap();
    winner.commit().await.unwrap();
    waiting.await.unwrap().unwrap();
    let units = "SELECT count(*) FROM customer_product WHERE customer = 'bob' AND units = 1";
    assert_eq!(shop.number(units).await, 1);
    shop.operate("DELETE FROM customer_product").await;
    shop.close().await;
}

#[tokio::test]
async fn customer_that_was_waited_for_has_the_units_the_winner_gave() {
    for end in ENDS {
        let (shop, product) = with_product().await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        let ann = CustomerId::parse("ann").expect("a customer");
        winner.customers_lock(std::slice::from_ref(&ann)).await.expect("it is new");
        winner.customers_move(&[(ann.clone(), product, 3)]).await.expect("the units rise");
        let standing = after_waiting(&shop, winner, end, async move {
            waiter.customers_lock(std::slice::from_ref(&ann)).await?;
            waiter.customers_standing(&[ann], &[product]).await
        })
        .await;
        let units = standing[0].1.units.get(&product).copied();
        assert_eq!(units, (end == End::Commits).then_some(3));
        shop.operate("UPDATE customer_product SET units = 0").await;
        shop.close().await;
    }
}

/// Voids what is left of a batch, which closes it.
async fn void(tx: &mut dyn Tx, batch: BatchId, size: i64) {
    let span = Span { batch, start: 0, upto: size, size, kind: SpanKind::Void, owner: None };
    tx.spans_append(&[span]).await.expect("the chain goes on");
    tx.batches_advance(&[(batch, size)]).await.expect("the batch closes");
}

#[tokio::test]
async fn batches_that_were_waited_for_are_those_the_winner_left_open() {
    for end in ENDS {
        let (shop, product) = with_product().await;
        shop.stock("card", 2).await;
        shop.stock("card", 3).await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        let open = winner.batches_open_of(&[product]).await.expect("two batches");
        let ids: Vec<BatchId> = open.iter().map(|b| b.id).collect();
        void(&mut *winner, ids[0], 2).await;
        let seen =
            after_waiting(&shop, winner, end, async move { waiter.batches_open_of(&[product]).await }).await;
        let seen: Vec<BatchId> = seen.iter().map(|b| b.id).collect();
        assert_eq!(seen, if end == End::Commits { &ids[1..] } else { &ids[..] });
        shop.close().await;
    }
}

#[tokio::test]
async fn order_that_was_waited_for_is_as_the_winner_left_it() {
    for end in ENDS {
        let (shop, order) = with_order().await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        let locked = winner.orders_lock(&[order]).await.expect("it is free");
        let state = OrderState::Cancelled { closed_at: shop.clock.now() };
        let advance = Advance { id: order, version: locked[0].version, state };
        winner.orders_advance(&[advance]).await.expect("it is cancelled");
        let (seen, moved) = after_waiting(&shop, winner, end, async move {
            let seen = waiter.orders_lock(&[order]).await?;
            Ok((seen, waiter.orders_advance(&[advance]).await?))
        })
        .await;
        match end {
            End::Commits => {
                assert_eq!((seen[0].version, seen[0].state.status()), (2, OrderStatus::Cancelled));
                assert_eq!(moved, [], "it is at the winner's version");
                shop.operate("UPDATE stock SET claimed = 0").await;
                shop.operate("UPDATE customer_product SET units = 0").await;
            }
            End::RollsBack => assert_eq!((seen[0].version, moved), (1, vec![order])),
        }
        shop.close().await;
    }
}

fn letter(shop: &Shop, order: OrderId, reason: &str) -> Letter {
    let now = shop.clock.now();
    Letter {
        id: LetterId::new(now, shop.entropy.bytes()),
        message_id: None,
        event: None,
        order: Some(order),
        reason: reason.to_owned(),
        fingerprint: "alike".to_owned(),
        attempts: 1,
        state: LetterState::Open,
        body: vec![],
        first_failed_at: now,
        last_failed_at: now,
    }
}

#[tokio::test]
async fn letter_that_waited_becomes_the_winners_latest_failure() {
    for end in ENDS {
        let (shop, order) = with_order().await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        let (first, second) = (letter(&shop, order, "first"), letter(&shop, order, "second"));
        winner.letters_put(std::slice::from_ref(&first)).await.expect("it is kept");
        let id = second.id;
        let letters = after_waiting(&shop, winner, end, async move {
            // Twice in one set, as a set that was gathered may hold it.
            waiter.letters_put(&[second.clone(), second]).await?;
            waiter.letters_list(None, None, 9).await
        })
        .await;
        let seen: Vec<_> = letters.iter().map(|l| (l.id, l.reason.as_str(), l.attempts)).collect();
        match end {
            End::Commits => assert_eq!(seen, [(first.id, "second", 3)]),
            End::RollsBack => assert_eq!(seen, [(id, "second", 2)]),
        }
        shop.close().await;
    }
}

#[tokio::test]
async fn lone_tries_that_waited_are_counted_on() {
    for end in ENDS {
        let (shop, order) = with_order().await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        winner.attempts_raise(&[order]).await.expect("it is counted");
        let counts =
            after_waiting(&shop, winner, end, async move { waiter.attempts_raise(&[order]).await }).await;
        assert_eq!(counts, [(order, if end == End::Commits { 2 } else { 1 })]);
        shop.close().await;
    }
}

#[tokio::test]
async fn lease_that_was_waited_for_is_the_winners() {
    for end in ENDS {
        let shop = open().await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        let until = shop.clock.now().plus(Duration::from_mins(1));
        winner.lease_take("import", [1; 16], "the winner", until).await.expect("it is free");
        let lease = after_waiting(&shop, winner, end, async move {
            waiter.lease_take("import", [2; 16], "the waiter", until).await
        })
        .await;
        assert_eq!(lease.holder, if end == End::Commits { [1; 16] } else { [2; 16] });
        shop.close().await;
    }
}

#[tokio::test]
async fn count_of_sets_that_was_waited_for_goes_on_from_the_winners() {
    for end in ENDS {
        let shop = open().await;
        let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
        winner.sets_raise().await.expect("it rises");
        let meta = after_waiting(&shop, winner, end, async move { waiter.sets_raise().await }).await;
        assert_eq!(meta.sets, if end == End::Commits { 2 } else { 1 });
        shop.close().await;
    }
}

#[tokio::test]
async fn told_marks_pass_over_orders_that_somebody_holds() {
    let (shop, order) = with_order().await;
    let mut holder = begin(&shop).await;
    holder.orders_lock(&[order]).await.expect("it is free");
    let mut sweeper = begin(&shop).await;
    assert_eq!(sweeper.orders_told(&[order]).await, Ok(()), "it waits for nobody");
    sweeper.commit().await.expect("it commits");
    assert_eq!(shop.number("SELECT count(*) FROM orders WHERE told_at IS NOT NULL").await, 0);
    drop(holder);
    shop.close().await;
}

#[tokio::test]
async fn locks_of_the_house_hold_up_no_foreign_key() {
    let (shop, order) = with_order().await;
    let product = shop.lines(order).await[0].product;
    let ann = CustomerId::parse("ann").expect("a customer");
    let mut holder = begin(&shop).await;
    holder.stock_lock(&[product]).await.expect("it is free");
    holder.customers_lock(&[ann]).await.expect("it is free");
    holder.orders_lock(&[order]).await.expect("it is free");
    let mut other = begin(&shop).await;
    // A count of tries refers to its order, as lines, payments and spans do.
    assert_eq!(other.attempts_raise(&[order]).await, Ok(vec![(order, 1)]));
    drop((holder, other));
    shop.close().await;
}

/// What a lock that is not given in time is.
pub(super) fn is_unavailable<T>(outcome: &Result<T>) -> bool {
    matches!(outcome, Err(StoreError::Unavailable(_)))
}
