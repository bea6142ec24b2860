//! The sweeper: finds what nobody was told of.

use std::time::Duration;

use tessera_broker::Broker;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_testbed::Shop;

const BOUND: Duration = Duration::from_secs(3);
const MICRO: Duration = Duration::from_micros(1);

/// Paid orders of which nothing was published.
async fn unheard(shop: &Shop, count: usize) -> Vec<OrderId> {
    let new = (0..count).map(|n| shop.new_order(&format!("buyer {n}"), &[("card", 1)])).collect::<Vec<_>>();
    let ids: Vec<OrderId> = new.iter().map(|n| n.id).collect();
    shop.place_set(new).await;
    let notice = |id: &OrderId| shop.notice("acme", &shop.reference(), &id.to_string(), 1_000, "CNY");
    shop.pay_set(ids.iter().map(notice).collect()).await;
    ids
}

async fn with_stock(count: usize) -> Shop {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", count).await;
    shop
}

#[tokio::test]
async fn a_dropped_message_is_found_after_three_seconds_and_not_before() {
    let shop = with_stock(1).await;
    let orders = unheard(&shop, 1).await;
    shop.clock.advance(BOUND);
    assert_eq!(shop.sweep().await, 0);
    shop.clock.advance(MICRO);
    let issuer = shop.start_issuer().await;
    assert_eq!(shop.sweep().await, 1);
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!(shop.sweep().await, 0);
    shop.close().await;
}

#[tokio::test]
async fn nothing_is_marked_as_told_while_the_broker_is_away() {
    let shop = with_stock(1).await;
    let orders = unheard(&shop, 1).await;
    shop.clock.advance(BOUND + MICRO);
    shop.broker.stop().await;
    assert_eq!(shop.sweep().await, 0);
    shop.broker.restart().await;
    assert_eq!(shop.sweep().await, 1, "it is found at once when the broker is back");
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn what_was_published_again_is_left_alone_for_another_bound() {
    let shop = with_stock(1).await;
    let orders = unheard(&shop, 1).await;
    shop.clock.advance(BOUND + MICRO);
    assert_eq!(shop.sweep().await, 1);
    shop.purge().await;
    assert_eq!(shop.sweep().await, 0);
    shop.clock.advance(BOUND + MICRO);
    assert_eq!(shop.sweep().await, 1);
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn while_the_queue_holds_messages_the_bound_doubles_and_an_empty_one_resets_it() {
    let shop = with_stock(2).await;
    let orders = unheard(&shop, 1).await;
    shop.publish_paid(orders[0]).await;
    shop.clock.advance(BOUND * 2);
    assert_eq!(shop.sweep().await, 0, "6 s");
    shop.clock.advance(BOUND);
    assert_eq!(shop.sweep().await, 0, "12 s");
    shop.purge().await;
    assert_eq!(shop.sweep().await, 1, "3 s again");
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn a_purged_queue_costs_seconds_and_no_order() {
    let shop = with_stock(30).await;
    let mut orders = vec![];
    for n in 0..30 {
        let order = shop.place(&format!("buyer {n}"), &[("card", 1)]).await;
        shop.pay(order).await;
        orders.push(order);
    }
    shop.until_published(30).await;
    assert_eq!(shop.purge().await, 30);
    shop.clock.advance(BOUND + MICRO);
    let issuer = shop.start_issuer().await;
    assert_eq!(shop.sweep().await, 30);
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn the_oldest_thousand_are_published_first() {
    let shop = with_stock(1_100).await;
    let mut orders = vec![];
    for _ in 0..11 {
        orders.extend(unheard(&shop, 100).await);
        shop.clock.advance(MICRO);
    }
    shop.clock.advance(BOUND);
    assert_eq!(shop.sweep().await, 1_000);
    let told = "SELECT count(*) FROM orders WHERE told_at IS NOT NULL";
    assert_eq!(shop.number(told).await, 1_000);
    let in_turn = "SELECT count(*) FROM orders WHERE told_at IS NULL \
                   AND paid_at > (SELECT max(paid_at) FROM orders WHERE told_at IS NOT NULL)";
    assert_eq!(shop.number(in_turn).await, 100);
    shop.purge().await;
    assert_eq!(shop.sweep().await, 100);
    for set in orders.chunks(256) {
        shop.issue(set).await;
    }
    shop.close().await;
}

#[tokio::test]
async fn a_head_that_stock_can_fill_is_found_and_one_that_it_cannot_is_not() {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.backorders = true).await;
    let head = shop.place("ann", &[("card", 2)]).await;
    let next = shop.place("bob", &[("card", 1)]).await;
    shop.pay(head).await;
    shop.clock.advance(MICRO);
    shop.pay(next).await;
    shop.issue(&[head, next]).await;
    shop.until_published(2).await;
    shop.purge().await;
    shop.clock.advance(BOUND + BOUND);
    assert_eq!(shop.sweep().await, 0);
    shop.stock("card", 1).await;
    assert_eq!(shop.sweep().await, 0);
    shop.stock("card", 2).await;
    let issuer = shop.start_issuer().await;
    assert_eq!(shop.sweep().await, 1);
    shop.until(&[head, next], OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn a_message_published_again_is_the_same_event() {
    let shop = with_stock(1).await;
    let orders = unheard(&shop, 1).await;
    shop.publish_paid(orders[0]).await;
    let mut consumer = shop.broker.consume(0, 9).await.unwrap();
    let first = consumer.next_set(1).await.unwrap().remove(0);
    shop.clock.advance(BOUND + MICRO);
    assert_eq!(shop.sweep().await, 1);
    let again = consumer.next_set(1).await.unwrap().remove(0);
    assert!(first.message_id.is_some());
    assert_eq!(first.message_id, again.message_id);
    shop.issue(&orders).await;
    shop.close().await;
}
