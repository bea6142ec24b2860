//! Requests with an idempotency key: one order a key.

use std::time::Duration;

use futures_util::future::join_all;
use tessera_model::ids::OrderId;
use tessera_orders::place::{PlaceOutcome, REQUEST_KEPT};
use tessera_testbed::Shop;

use super::{is_placed, sold_out};

async fn with_stock(count: usize) -> Shop {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", count).await;
    shop
}

fn placed(outcome: &PlaceOutcome) -> OrderId {
    match outcome {
        PlaceOutcome::Placed(placed) => placed.order.id,
        other => panic!("not placed: {other:?}"),
    }
}

#[tokio::test]
async fn the_same_request_again_is_the_same_order() {
    let shop = with_stock(9).await;
    let ask = || shop.keyed(shop.new_order("ann", &[("card", 1)]), 1, 1);
    let order = placed(&shop.try_place(ask()).await);
    assert_eq!(shop.try_place(ask()).await, PlaceOutcome::Repeated(order));
    assert_eq!(shop.shelf("card").await.claimed, 1);
    shop.close().await;
}

#[tokio::test]
async fn the_same_key_for_another_request_is_refused() {
    let shop = with_stock(9).await;
    placed(&shop.try_place(shop.keyed(shop.new_order("ann", &[("card", 1)]), 1, 1)).await);
    let other = shop.keyed(shop.new_order("ann", &[("card", 2)]), 1, 2);
    assert_eq!(shop.try_place(other).await, PlaceOutcome::KeyReused);
    assert_eq!(shop.shelf("card").await.claimed, 1);
    shop.close().await;
}

#[tokio::test]
async fn a_request_made_fifty_times_at_once_is_one_order() {
    let shop = with_stock(99).await;
    let ask = || shop.keyed(shop.new_order("ann", &[("card", 1)]), 1, 1);
    let set = (0..50).map(|_| ask()).collect();
    let outcomes: Vec<_> = shop.place_set(set).await.into_iter().map(Result::unwrap).collect();
    let order = placed(&outcomes[0]);
    assert!(outcomes[1..].iter().all(|o| *o == PlaceOutcome::Repeated(order)));
    assert_eq!(shop.shelf("card").await.claimed, 1);
    shop.close().await;
}

#[tokio::test]
async fn a_request_in_two_sets_at_once_is_one_order() {
    let shop = with_stock(99).await;
    let ask = || shop.keyed(shop.new_order("ann", &[("card", 1)]), 1, 1);
    let sets = (0..8).map(|_| shop.place_set(vec![ask()]));
    let outcomes: Vec<_> = join_all(sets).await.into_iter().flatten().map(Result::unwrap).collect();
    let order = outcomes.iter().find(|o| is_placed(o)).map(placed).unwrap();
    let repeats = outcomes.iter().filter(|o| **o == PlaceOutcome::Repeated(order)).count();
    assert_eq!(repeats, 7);
    assert_eq!(shop.number("SELECT count(*) FROM orders").await, 1);
    shop.close().await;
}

#[tokio::test]
async fn a_refused_request_leaves_its_key_free() {
    let shop = with_stock(1).await;
    let ask = |count| shop.keyed(shop.new_order("ann", &[("card", count)]), 1, 1);
    assert_eq!(shop.try_place(ask(2)).await, sold_out("card", 1));
    assert_eq!(shop.number("SELECT count(*) FROM request").await, 0);
    shop.stock("card", 1).await;
    placed(&shop.try_place(ask(2)).await);
    shop.close().await;
}

#[tokio::test]
async fn a_key_refused_and_then_accepted_in_one_set_belongs_to_the_order_that_was_accepted() {
    let shop = with_stock(1).await;
    let ask = |count| shop.keyed(shop.new_order("ann", &[("card", count)]), 1, 1);
    let outcomes = shop.place_set(vec![ask(2), ask(1), ask(1)]).await;
    let outcomes: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
    let order = placed(&outcomes[1]);
    assert_eq!(outcomes[0], sold_out("card", 1));
    assert_eq!(outcomes[2], PlaceOutcome::Repeated(order));
    assert_eq!(shop.try_place(ask(1)).await, PlaceOutcome::Repeated(order));
    shop.close().await;
}

#[tokio::test]
async fn a_key_is_remembered_for_48_hours_and_not_longer() {
    let shop = with_stock(9).await;
    let ask = || shop.keyed(shop.new_order("ann", &[("card", 1)]), 1, 1);
    let first = placed(&shop.try_place(ask()).await);
    shop.clock.advance(REQUEST_KEPT);
    assert_eq!(shop.try_place(ask()).await, PlaceOutcome::Repeated(first));
    shop.clock.advance(Duration::from_micros(1));
    let second = placed(&shop.try_place(ask()).await);
    assert_ne!(second, first);
    assert_eq!(shop.try_place(ask()).await, PlaceOutcome::Repeated(second));
    shop.close().await;
}

#[tokio::test]
async fn old_requests_are_forgotten_by_the_janitor_and_young_ones_kept() {
    let shop = with_stock(9).await;
    placed(&shop.try_place(shop.keyed(shop.new_order("ann", &[("card", 1)]), 1, 1)).await);
    shop.clock.advance(REQUEST_KEPT + Duration::from_secs(1));
    placed(&shop.try_place(shop.keyed(shop.new_order("ann", &[("card", 1)]), 2, 1)).await);
    assert_eq!(tessera_backoffice::janitor::purge_requests(&shop.store).await, Ok(1));
    assert_eq!(shop.number("SELECT count(*) FROM request").await, 1);
    shop.close().await;
}
