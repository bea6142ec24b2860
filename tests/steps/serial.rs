//! The serial issuer: what it acknowledges, and what happens when something is taken away from it.

use std::time::Duration;

use tessera_broker::{Broker, Message};
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::PaymentOutcome;
use tessera_store::StoreError;
use tessera_testbed::{How, Shop};

mod alike;
mod alone;
mod letters;

/// A shop with as many codes as paid orders, which are published; the issuer is yet to be started.
async fn paid(count: usize) -> (Shop, Vec<OrderId>) {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", count).await;
    let mut orders = vec![];
    for n in 0..count {
        orders.push(shop.place(&format!("buyer {n}"), &[("card", 1)]).await);
    }
    for order in &orders {
        assert_eq!(shop.pay(*order).await, PaymentOutcome::Paid);
    }
    shop.until_published(u64::try_from(count).unwrap()).await;
    (shop, orders)
}

/// Makes an order's row one that cannot be read, or whole again.
async fn damage(shop: &Shop, order: OrderId) {
    let id = shop.literal(order);
    shop.operate(&format!("UPDATE orders SET currency = 'cny' WHERE id = {id}")).await;
}

async fn mend(shop: &Shop) {
    shop.operate("UPDATE orders SET currency = 'CNY'").await;
}

/// A message of any kind, sent where those are that an issuer is to have.
fn message(kind: &str, body: &str) -> Message {
    Message {
        routing_key: "order.paid.0".to_owned(),
        message_id: "0193".to_owned(),
        kind: kind.to_owned(),
        traceparent: None,
        body: body.as_bytes().to_vec(),
    }
}

async fn codes(shop: &Shop, orders: &[OrderId]) -> usize {
    let mut count = 0;
    for order in orders {
        count += shop.codes_of(*order).await.len();
    }
    count
}

#[tokio::test]
async fn what_is_ready_is_one_set_one_wake_up_and_acknowledged() {
    let (shop, orders) = paid(40).await;
    shop.broker.hand_out_whole_sets();
    let mut wakes = shop.broker.wakes().await.unwrap();
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    let body: serde_json::Value = serde_json::from_slice(&wakes.next().await.unwrap()).unwrap();
    let woken = body["order_ids"].as_array().unwrap();
    assert_eq!(woken.len(), 40);
    assert!(orders.iter().all(|id| woken.contains(&id.to_string().into())));
    issuer.stop().await;
    assert_eq!((shop.broker.left().await, shop.number("SELECT sets FROM store").await), (0, 1));
    assert_eq!(shop.note.orders(), []);
    shop.close().await;
}

#[tokio::test]
async fn a_store_that_is_away_pauses_the_issuer_and_costs_no_message() {
    let (shop, orders) = paid(5).await;
    shop.faults.away();
    let mut pings = shop.faults.pings();
    let (issuer, _) = shop.start_waiting_issuer();
    pings.wait_for(|count| *count >= 2).await.unwrap();
    assert_eq!(shop.broker.left().await, 5);
    assert!(!*issuer.consuming.borrow(), "a paused issuer is not ready");
    shop.faults.clear();
    shop.until(&orders, OrderStatus::Issued).await;
    assert!(*issuer.consuming.borrow());
    issuer.stop().await;
    assert_eq!((shop.broker.left().await, shop.letters(None).await), (0, vec![]));
    shop.close().await;
}

#[tokio::test]
async fn a_store_that_fails_within_a_set_pauses_the_issuer_and_costs_no_message() {
    for how in ["Unavailable", "Schema"] {
        let (shop, orders) = paid(5).await;
        let error = match how {
            "Schema" => StoreError::Schema("no such column".to_owned()),
            _ => StoreError::Unavailable("disk full".to_owned()),
        };
        shop.faults.next(1, "orders_advance", &"", How::Fail(error));
        let issuer = shop.start_issuer().await;
        shop.until(&orders, OrderStatus::Issued).await;
        issuer.stop().await;
        assert_eq!((shop.broker.left().await, shop.letters(None).await), (0, vec![]));
        assert_eq!(codes(&shop, &orders).await, 5);
        shop.close().await;
    }
}

#[tokio::test]
async fn killed_between_commit_and_acknowledgement_it_gives_no_second_code() {
    let (shop, orders) = paid(5).await;
    shop.broker.hand_out_whole_sets();
    let hang = shop.faults.hang("committed", &"spans_append");
    let issuer = shop.start_issuer().await;
    hang.reached().await;
    issuer.kill().await;
    hang.go_on();
    assert_eq!(shop.broker.left().await, 5);
    assert_eq!(shop.statuses(&orders).await, [OrderStatus::Issued; 5]);
    let issuer = shop.start_issuer().await;
    shop.broker.until_acknowledged().await;
    issuer.stop().await;
    assert_eq!((shop.broker.left().await, codes(&shop, &orders).await), (0, 5));
    assert_eq!(shop.number("SELECT sets FROM store").await, 1);
    shop.close().await;
}

#[tokio::test]
async fn killed_before_its_commit_it_leaves_everything_to_its_successor() {
    let (shop, orders) = paid(5).await;
    let hang = shop.faults.hang("commit", &"spans_append");
    let issuer = shop.start_issuer().await;
    hang.reached().await;
    issuer.kill().await;
    hang.die();
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!((shop.broker.left().await, codes(&shop, &orders).await), (0, 5));
    shop.close().await;
}

/// Case P79: restarts of a consumer of a quorum queue brought messages twice.
#[tokio::test]
async fn restarted_fifty_times_it_gives_no_code_twice() {
    let (shop, orders) = paid(50).await;
    for order in &orders {
        let hang = shop.faults.hang("committed", &"spans_append");
        let issuer = shop.start_issuer().await;
        shop.publish_paid(*order).await;
        tokio::select! {
            () = hang.reached() => {}
            () = shop.until(&orders, OrderStatus::Issued) => {}
        }
        issuer.kill().await;
        hang.go_on();
    }
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!(codes(&shop, &orders).await, 50);
    shop.close().await;
}

#[tokio::test]
async fn a_broker_that_goes_away_within_a_set_and_comes_back_costs_nothing() {
    let (shop, orders) = paid(5).await;
    shop.broker.hand_out_whole_sets();
    let hang = shop.faults.hang("commit", &"spans_append");
    let issuer = shop.start_issuer().await;
    hang.reached().await;
    shop.broker.stop().await;
    hang.go_on();
    shop.until(&orders, OrderStatus::Issued).await;
    shop.broker.restart().await;
    shop.stock("card", 1).await;
    let later = shop.place("ann", &[("card", 1)]).await;
    shop.pay(later).await;
    shop.until(&[later], OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!((shop.broker.left().await, codes(&shop, &orders).await), (0, 5));
    shop.close().await;
}

#[tokio::test]
async fn orders_paid_while_the_broker_is_away_are_issued_once_it_is_back_and_swept() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 20).await;
    shop.broker.stop().await;
    let (issuer, mut ready) = shop.start_waiting_issuer();
    let mut orders = vec![];
    for _ in 0..20 {
        let order = shop.place("ann", &[("card", 1)]).await;
        shop.pay(order).await;
        orders.push(order);
    }
    shop.until_published(20).await;
    shop.clock.advance(Duration::from_mins(1));
    shop.broker.restart().await;
    ready.wait_for(|ready| *ready).await.unwrap();
    assert_eq!(shop.sweep().await, 20);
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn a_message_of_a_newer_program_pauses_the_issuer_and_is_kept() {
    let (shop, orders) = paid(2).await;
    shop.broker.hand_out_whole_sets();
    shop.publish(message("order.split", r#"{"v":2}"#)).await;
    let mut pings = shop.faults.pings();
    let issuer = shop.start_issuer().await;
    pings.wait_for(|count| *count >= 2).await.unwrap();
    issuer.stop().await;
    assert_eq!((shop.broker.left().await, shop.letters(None).await), (3, vec![]));
    assert_eq!(shop.statuses(&orders).await, [OrderStatus::Paid; 2]);
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn two_issuers_at_once_share_the_work_and_give_each_code_once() {
    let (shop, orders) = paid(60).await;
    let (first, second) = (shop.start_issuer().await, shop.start_issuer().await);
    shop.until(&orders[..1], OrderStatus::Issued).await;
    first.stop().await;
    shop.until(&orders, OrderStatus::Issued).await;
    second.stop().await;
    assert_eq!(codes(&shop, &orders).await, 60);
    shop.close().await;
}
