//! Lone tries: an order whose message may have killed an issuer.

use std::time::{Duration, Instant};

use tessera_broker::Broker;
use tessera_issuer::SetNote;
use tessera_model::order::OrderStatus;
use tessera_store::StoreError;
use tessera_testbed::{How, Shop};

use super::{codes, damage, mend, paid};

async fn sets(shop: &Shop) -> i64 {
    shop.number("SELECT sets FROM store").await
}

/// Takes what is published and gives it back, so that it is redelivered.
async fn redeliver(shop: &Shop, count: usize) {
    let mut consumer = shop.broker.consume(0, 1_000).await.unwrap();
    let mut taken = 0;
    while taken < count {
        taken += consumer.next_set(1_000).await.unwrap().len();
    }
    assert_eq!(taken, count);
    consumer.close().await;
}

#[tokio::test]
async fn the_noted_set_of_a_dead_issuer_is_tried_one_by_one() {
    let (shop, orders) = paid(5).await;
    shop.broker.hand_out_whole_sets();
    let hang = shop.faults.hang("orders_lock", &"");
    let issuer = shop.start_issuer().await;
    hang.reached().await;
    assert_eq!(shop.note.orders(), orders);
    issuer.kill().await;
    hang.die();
    assert_eq!(shop.broker.left().await, 5, "they are back");
    // Published anew, not redelivered: only the note tells them.
    shop.purge().await;
    for order in &orders {
        shop.publish_paid(*order).await;
    }
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!((sets(&shop).await, codes(&shop, &orders).await), (5, 5));
    assert_eq!(shop.number("SELECT count(*) FROM attempt").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn what_is_redelivered_is_tried_one_by_one() {
    let (shop, orders) = paid(5).await;
    redeliver(&shop, 5).await;
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!((sets(&shop).await, shop.letters(None).await), (5, vec![]));
    shop.close().await;
}

#[tokio::test]
async fn an_order_that_killed_its_issuer_in_three_lone_tries_becomes_a_letter_untried() {
    let (shop, orders) = paid(3).await;
    // Together with others, and alone; a second and a third time alone only after a while.
    for (tries, rest) in [(0, 0), (1, 0), (2, 500), (3, 2_000)] {
        let hang = shop.faults.hang("spans_append", &orders[1]);
        let (issuer, since) = (shop.start_issuer().await, Instant::now());
        hang.reached().await;
        assert!(since.elapsed() >= Duration::from_millis(rest), "try {tries} after {:?}", since.elapsed());
        issuer.kill().await;
        hang.die();
        let count = "SELECT coalesce(sum(count), 0) FROM attempt";
        assert_eq!(shop.number(count).await, tries);
    }
    shop.faults.always("spans_append", &orders[1], How::Panic);
    let issuer = shop.start_issuer().await;
    shop.until_true(async || shop.letters(None).await.len() == 1).await;
    shop.until(&[orders[0], orders[2]], OrderStatus::Issued).await;
    issuer.stop().await;
    let letter = shop.letters(None).await.remove(0);
    assert_eq!((letter.order, letter.attempts), (Some(orders[1]), 3));
    assert!(letter.reason.contains("tried alone three times"), "{}", letter.reason);
    assert_eq!((shop.broker.left().await, codes(&shop, &orders).await), (0, 2));
    shop.faults.clear();
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn a_process_that_dies_young_lays_nothing_to_the_order_in_hand() {
    let (shop, orders) = paid(1).await;
    redeliver(&shop, 1).await;
    let hang = shop.faults.hang("spans_append", &orders[0]);
    let issuer = shop.start_issuer().await;
    hang.reached().await;
    issuer.kill().await;
    hang.die();
    for _ in 0..5 {
        let looked = shop.faults.hang("attempts_raise", &orders[0]);
        let issuer = shop.start_issuer().await;
        looked.reached().await;
        looked.go_on();
        // Time for what must not happen: that the try is counted at once.
        tokio::time::sleep(Duration::from_millis(50)).await;
        issuer.kill().await;
    }
    assert_eq!(shop.number("SELECT sum(count) FROM attempt").await, 1);
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!(shop.letters(None).await, []);
    shop.close().await;
}

#[tokio::test]
async fn a_store_that_fails_lone_tries_is_not_laid_to_the_order() {
    let (shop, orders) = paid(1).await;
    redeliver(&shop, 1).await;
    shop.faults.next(4, "orders_advance", &"", How::Fail(StoreError::Unavailable("disk full".to_owned())));
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!(shop.letters(Some(tessera_store::letters::LetterState::Resolved)).await, []);
    assert_eq!(shop.letters(None).await, []);
    shop.close().await;
}

#[tokio::test]
async fn a_damaged_order_that_is_redelivered_becomes_a_letter_and_holds_up_nobody() {
    let (shop, orders) = paid(3).await;
    damage(&shop, orders[1]).await;
    redeliver(&shop, 3).await;
    let issuer = shop.start_issuer().await;
    shop.until_true(async || shop.letters(None).await.len() == 1).await;
    shop.broker.until_acknowledged().await;
    issuer.stop().await;
    mend(&shop).await;
    let statuses = shop.statuses(&orders).await;
    assert_eq!(statuses, [OrderStatus::Issued, OrderStatus::Paid, OrderStatus::Issued]);
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn noted_orders_that_are_done_are_not_tried_alone() {
    let (shop, orders) = paid(3).await;
    shop.issue(&orders).await;
    shop.broker.hand_out_whole_sets();
    shop.note.clone().write(&orders);
    let issuer = shop.start_issuer().await;
    shop.broker.until_acknowledged().await;
    issuer.stop().await;
    assert_eq!((shop.broker.left().await, sets(&shop).await), (0, 1));
    assert_eq!(shop.number("SELECT count(*) FROM attempt").await, 0);
    shop.close().await;
}
