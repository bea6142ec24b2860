//! Dead letters: what cannot be issued, written down before it is acknowledged.

use std::time::Duration;

use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_store::StoreError;
use tessera_store::letters::LetterState;
use tessera_testbed::{How, Shop};

use super::{damage, mend, message, paid};

const STRANGER: &str = "00000000-0000-7000-8000-000000000000";

/// Runs an issuer until there are this many live letters.
async fn until_letters(shop: &Shop, count: usize) {
    let issuer = shop.start_issuer().await;
    shop.until_true(async || shop.letters(None).await.len() == count).await;
    // What stands behind them may come in a later set.
    shop.broker.until_acknowledged().await;
    issuer.stop().await;
    assert_eq!(shop.broker.left().await, 0);
}

#[tokio::test]
async fn a_message_of_an_unknown_order_becomes_a_letter_with_its_body() {
    let (shop, orders) = paid(3).await;
    let body = format!(r#"{{"v":1,"order_id":"{STRANGER}"}}"#);
    shop.publish(message("order.paid", &body)).await;
    until_letters(&shop, 1).await;
    let letter = shop.letters(None).await.remove(0);
    assert_eq!(letter.order, OrderId::parse(STRANGER));
    assert_eq!((letter.reason.as_str(), letter.body), ("there is no such order", body.into_bytes()));
    assert_eq!(shop.statuses(&orders).await, [OrderStatus::Issued; 3]);
    shop.close().await;
}

#[tokio::test]
async fn a_message_that_cannot_be_decoded_becomes_a_letter_and_stops_nothing() {
    let (shop, orders) = paid(3).await;
    for (kind, body) in [("order.paid", "{"), ("order.shipped", r#"{"v":1}"#), ("order.paid", "\u{0}")] {
        shop.publish(message(kind, body)).await;
    }
    until_letters(&shop, 3).await;
    assert!(shop.letters(None).await.iter().all(|letter| letter.order.is_none()));
    assert_eq!(shop.statuses(&orders).await, [OrderStatus::Issued; 3]);
    shop.close().await;
}

#[tokio::test]
async fn a_message_that_cannot_be_decoded_becomes_one_letter_however_often_its_set_is_tried() {
    let (shop, orders) = paid(3).await;
    shop.publish(message("order.paid", "{")).await;
    shop.faults.next(2, "orders_advance", &"", How::Fail(StoreError::Unavailable("disk full".to_owned())));
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    shop.until_true(async || !shop.letters(None).await.is_empty()).await;
    issuer.stop().await;
    assert_eq!(shop.letters(None).await.len(), 1);
    shop.close().await;
}

#[tokio::test]
async fn a_damaged_order_becomes_a_letter_and_the_255_others_are_issued() {
    let (shop, orders) = paid(256).await;
    damage(&shop, orders[99]).await;
    until_letters(&shop, 1).await;
    mend(&shop).await;
    let letter = shop.letters(None).await.remove(0);
    assert_eq!((letter.order, letter.attempts), (Some(orders[99]), 1));
    let left: Vec<_> =
        shop.statuses(&orders).await.into_iter().filter(|s| *s != OrderStatus::Issued).collect();
    assert_eq!(left, [OrderStatus::Paid]);
    shop.leftover_is_fine();
    shop.close().await;
}

#[tokio::test]
async fn a_letter_keeps_the_sweeper_off_until_its_order_is_issued() {
    let (shop, orders) = paid(2).await;
    damage(&shop, orders[0]).await;
    until_letters(&shop, 1).await;
    shop.clock.advance(Duration::from_mins(10));
    assert_eq!(shop.sweep().await, 0);
    mend(&shop).await;
    shop.issue(&orders).await;
    assert_eq!(shop.letters(None).await, []);
    assert_eq!(shop.letters(Some(LetterState::Resolved)).await.len(), 1);
    shop.close().await;
}

#[tokio::test]
async fn an_order_that_fails_again_stays_one_letter() {
    let (shop, orders) = paid(1).await;
    damage(&shop, orders[0]).await;
    until_letters(&shop, 1).await;
    shop.publish_paid(orders[0]).await;
    let issuer = shop.start_issuer().await;
    shop.until_true(async || shop.letters(None).await[0].attempts == 2).await;
    issuer.stop().await;
    assert_eq!(shop.letters(None).await.len(), 1);
    mend(&shop).await;
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn the_damaged_head_of_a_waitlist_becomes_a_letter_by_name() {
    let shop = Shop::open().await;
    let card = shop.product("card", |rules| rules.backorders = true).await;
    let head = shop.place("ann", &[("card", 1)]).await;
    shop.pay(head).await;
    shop.issue(&[head]).await;
    shop.until_published(1).await;
    shop.purge().await;
    shop.stock("card", 1).await;
    damage(&shop, head).await;
    shop.publish_stock(card).await;
    shop.clock.advance(Duration::from_secs(4));
    let issuer = shop.start_issuer().await;
    shop.broker.until_acknowledged().await;
    assert_eq!(shop.sweep().await, 1);
    shop.until_true(async || shop.letters(None).await.len() == 1).await;
    issuer.stop().await;
    assert_eq!(shop.letters(None).await[0].order, Some(head));
    mend(&shop).await;
    shop.issue(&[head]).await;
    assert_eq!(shop.status(head).await, OrderStatus::Issued);
    shop.close().await;
}

#[tokio::test]
async fn a_damaged_head_holds_up_nobody_behind_it_once_it_is_a_letter() {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.backorders = true).await;
    let mut waiting = vec![];
    for name in ["ann", "bob"] {
        let order = shop.place(name, &[("card", 1)]).await;
        shop.pay(order).await;
        shop.issue(&[order]).await;
        shop.clock.advance(Duration::from_secs(1));
        waiting.push(order);
    }
    shop.until_published(2).await;
    shop.purge().await;
    shop.stock("card", 3).await;
    damage(&shop, waiting[0]).await;
    shop.clock.advance(Duration::from_secs(4));
    let issuer = shop.start_issuer().await;
    assert_eq!(shop.sweep().await, 1, "the head");
    shop.until_true(async || shop.letters(None).await.len() == 1).await;
    shop.clock.advance(Duration::from_secs(4));
    assert_eq!(shop.sweep().await, 1, "who stands behind it");
    shop.until_true(async || shop.status(waiting[1]).await == OrderStatus::Issued).await;
    let later = shop.place("cid", &[("card", 1)]).await;
    shop.pay(later).await;
    shop.until_true(async || shop.status(later).await == OrderStatus::Issued).await;
    issuer.stop().await;
    mend(&shop).await;
    shop.issue(&[waiting[0]]).await;
    assert_eq!(shop.status(waiting[0]).await, OrderStatus::Issued, "its claim kept its code");
    shop.close().await;
}
