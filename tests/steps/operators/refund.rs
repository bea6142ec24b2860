//! Refund: the whole order's money is to be paid back.

use tessera_model::ids::LetterId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::{MoneyState, PaymentOutcome};
use tessera_orders::operators::DeedOutcome;
use tessera_store::Clock;
use tessera_store::letters::{Letter, LetterState};

use super::{HOLD, is_done, ordered, pays, with_stock};

#[tokio::test]
async fn a_paid_order_that_is_refunded_gives_its_claim_back_and_gets_no_codes() {
    let (shop, order) = ordered(1).await;
    shop.pay(order).await;
    assert!(is_done(shop.refund(order).await));
    assert_eq!(shop.status(order).await, OrderStatus::RefundDue);
    assert_eq!(shop.money(order).await, [(MoneyState::RefundDue, 1_000)].into());
    assert_eq!(shop.shelf("card").await.available(), 1);
    shop.issue(&[order]).await;
    assert!(shop.codes_of(order).await.is_empty());
    shop.close().await;
}

#[tokio::test]
async fn an_issued_order_keeps_its_codes_and_the_customer_the_units() {
    let (shop, order) = ordered(2).await;
    shop.product("card", |rules| rules.per_customer_limit = Some(1)).await;
    shop.pay(order).await;
    shop.issue(&[order]).await;
    assert!(is_done(shop.refund(order).await));
    assert_eq!(shop.codes_of(order).await.len(), 1);
    let refused = shop.try_place(shop.new_order("ann", &[("card", 1)])).await;
    assert!(matches!(refused, tessera_orders::place::PlaceOutcome::Refused(_)), "{refused:?}");
    assert_eq!(shop.shelf("card").await.claimed, 0);
    shop.close().await;
}

#[tokio::test]
async fn a_refunded_backorder_leaves_its_waitlist_and_the_next_moves_up() {
    let shop = with_stock(0).await;
    let card = shop.product("card", |rules| rules.backorders = true).await;
    let mut orders = vec![];
    for buyer in ["ann", "bob"] {
        let order = shop.place(buyer, &[("card", 1)]).await;
        shop.pay(order).await;
        shop.clock.advance(HOLD / 15);
        orders.push(order);
    }
    shop.issue(&orders).await;
    assert_eq!(shop.head(card).await, orders[0]);
    assert!(is_done(shop.refund(orders[0]).await));
    assert_eq!((shop.head(card).await, shop.shelf("card").await.claimed), (orders[1], 1));
    shop.stock("card", 1).await;
    shop.issue(&orders).await;
    assert_eq!(shop.statuses(&orders).await, [OrderStatus::RefundDue, OrderStatus::Issued]);
    shop.close().await;
}

#[tokio::test]
async fn a_refund_resolves_the_orders_dead_letter() {
    let (shop, order) = ordered(1).await;
    shop.pay(order).await;
    let letter = Letter { order: Some(order), attempts: 1, ..Letter::about(None, None, b"it") };
    let letter = letter.failed_at(shop.clock.now(), LetterId::new(shop.clock.now(), shop.entropy.bytes()));
    let mut tx = shop.store.begin().await.unwrap();
    tx.letters_put(&[letter]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(shop.letters(None).await.len(), 1);
    assert!(is_done(shop.refund(order).await));
    assert_eq!(shop.letters(None).await.len(), 0);
    assert_eq!(shop.letters(Some(LetterState::Resolved)).await.len(), 1);
    shop.close().await;
}

#[tokio::test]
async fn a_free_order_is_refunded_at_once() {
    let shop = with_stock(0).await;
    shop.product("gift", |rules| rules.price.minor = 0).await;
    shop.stock("gift", 1).await;
    let order = shop.place("ann", &[("gift", 1)]).await;
    assert!(is_done(shop.refund(order).await));
    assert_eq!(shop.status(order).await, OrderStatus::Refunded);
    assert_eq!(shop.refund(order).await, DeedOutcome::Already(OrderStatus::Refunded));
    assert_eq!(shop.shelf("gift").await.available(), 1);
    shop.close().await;
}

#[tokio::test]
async fn an_order_that_was_never_paid_is_not_refunded() {
    let (shop, order) = ordered(1).await;
    assert_eq!(shop.refund(order).await, DeedOutcome::Refused(OrderStatus::AwaitingPayment));
    pays(&shop, order, 400).await;
    shop.clock.advance(HOLD);
    shop.expire_due().await;
    assert_eq!(shop.refund(order).await, DeedOutcome::Refused(OrderStatus::Expired));
    assert_eq!(shop.audited("order.refund").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn money_that_comes_for_a_refunded_order_is_to_be_paid_back() {
    let (shop, order) = ordered(1).await;
    shop.pay(order).await;
    shop.refund(order).await;
    assert_eq!(shop.pay(order).await, PaymentOutcome::RefundDue);
    assert_eq!(shop.money(order).await, [(MoneyState::RefundDue, 2_000)].into());
    shop.close().await;
}
