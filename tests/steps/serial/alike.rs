//! Orders in a row that fail alike: more likely our fault than theirs.

use std::time::Duration;

use tessera_broker::{Broker, Consumer};
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_testbed::Shop;
use tokio::time::timeout;

use super::{damage, mend, message, paid};

/// Waits until the issuer has given up its queue, and gives it back to nobody: who stands by has it then.
async fn until_paused(shop: &Shop, mut standing_by: Box<dyn Consumer>, probe: OrderId) {
    shop.publish_paid(probe).await;
    let set = timeout(Duration::from_secs(30), standing_by.next_set(1)).await.unwrap().unwrap();
    assert!(String::from_utf8(set[0].body.clone()).unwrap().contains(&probe.to_string()));
}

async fn damaged(shop: &Shop, orders: &[OrderId]) {
    for order in orders {
        damage(shop, *order).await;
    }
}

#[tokio::test]
async fn three_orders_in_a_row_that_fail_alike_pause_the_issuer() {
    let (shop, orders) = paid(4).await;
    shop.purge().await;
    damaged(&shop, &orders[..3]).await;
    let issuer = shop.start_issuer().await;
    let standing_by = shop.broker.consume(0, 1).await.unwrap();
    for (n, order) in orders[..3].iter().enumerate() {
        shop.publish_paid(*order).await;
        shop.until_true(async || shop.letters(None).await.len() == n + 1).await;
    }
    until_paused(&shop, standing_by, orders[3]).await;
    issuer.stop().await;
    mend(&shop).await;
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn three_in_a_row_pause_it_also_when_another_of_their_set_succeeds_after_them() {
    let (shop, orders) = paid(5).await;
    shop.broker.hand_out_whole_sets();
    damaged(&shop, &orders[..3]).await;
    let issuer = shop.start_issuer().await;
    let standing_by = shop.broker.consume(0, 1).await.unwrap();
    shop.until_true(async || shop.letters(None).await.len() == 3).await;
    until_paused(&shop, standing_by, orders[4]).await;
    issuer.stop().await;
    mend(&shop).await;
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn one_order_that_fails_three_times_pauses_nothing() {
    let (shop, orders) = paid(2).await;
    shop.purge().await;
    damaged(&shop, &orders[..1]).await;
    let issuer = shop.start_issuer().await;
    for attempts in 1..=4 {
        shop.publish_paid(orders[0]).await;
        shop.until_true(async || {
            shop.letters(None).await.first().is_some_and(|letter| letter.attempts == attempts)
        })
        .await;
    }
    shop.publish_paid(orders[1]).await;
    shop.until(&orders[1..], OrderStatus::Issued).await;
    issuer.stop().await;
    mend(&shop).await;
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn messages_that_are_not_ours_never_pause_the_issuer() {
    let (shop, orders) = paid(1).await;
    shop.purge().await;
    let issuer = shop.start_issuer().await;
    for n in 0..5 {
        let body = format!(r#"{{"v":1,"order_id":"00000000-0000-7000-8000-00000000000{n}"}}"#);
        shop.publish(message("order.paid", &body)).await;
        shop.publish(message("order.paid", "{")).await;
        shop.until_true(async || shop.letters(None).await.len() == 2 * n + 2).await;
    }
    shop.publish_paid(orders[0]).await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}
