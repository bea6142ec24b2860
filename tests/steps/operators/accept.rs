//! Accept: what was paid is enough.

use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_model::product::ProductRules;
use tessera_orders::operators::DeedOutcome;
use tessera_store::StoreError;
use tessera_testbed::How;

use super::{HOLD, is_done, ordered, pays, with_stock};

/// Case P64: a payment a few cents short could only be marked by hand. The log keeps what was taken and what was due.
#[tokio::test]
async fn a_short_payment_is_accepted_with_a_reason_and_the_log_has_both_amounts() {
    let (shop, order) = ordered(1).await;
    pays(&shop, order, 600).await;
    pays(&shop, order, 398).await;
    assert!(is_done(shop.accept(order).await));
    assert_eq!(shop.money(order).await, [(MoneyState::Settled, 998)].into());
    let both = "SELECT count(*) FROM audit WHERE action = 'order.accept' AND actor = 'olga' \
        AND reason = 'the buyer asked for it (took 998 for 1000 CNY)'";
    assert_eq!(shop.number(both).await, 1);
    shop.until_published(1).await;
    let issuer = shop.start_issuer().await;
    shop.until(&[order], OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn an_order_of_which_nothing_was_paid_is_not_accepted() {
    let (shop, order) = ordered(1).await;
    assert_eq!(shop.accept(order).await, DeedOutcome::NothingPaid);
    shop.cancel(order).await;
    assert_eq!(shop.accept(order).await, DeedOutcome::NothingPaid);
    assert_eq!(shop.audited("order.accept").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn an_expired_order_that_is_accepted_has_its_money_and_its_claim_again() {
    let (shop, order) = ordered(1).await;
    pays(&shop, order, 900).await;
    shop.clock.advance(HOLD);
    shop.expire_due().await;
    pays(&shop, order, 700).await;
    assert_eq!(shop.money(order).await, [(MoneyState::RefundDue, 1_600)].into());
    assert!(is_done(shop.accept(order).await));
    let split = [(MoneyState::Settled, 1_000), (MoneyState::RefundDue, 600)];
    assert_eq!((shop.money(order).await, shop.shelf("card").await.claimed), (split.into(), 1));
    shop.issue(&[order]).await;
    assert_eq!(shop.codes_of(order).await.len(), 1);
    shop.close().await;
}

#[tokio::test]
async fn an_operator_passes_limits_but_not_the_stock() {
    let shop = with_stock(1).await;
    let limit = |rules: &mut ProductRules| {
        (rules.per_customer_limit, rules.open_orders_per_customer) = (Some(1), Some(9));
    };
    shop.product("card", limit).await;
    let first = shop.place("ann", &[("card", 1)]).await;
    shop.cancel(first).await;
    let second = shop.place("ann", &[("card", 1)]).await;
    shop.pay(first).await;
    assert_eq!(shop.accept(first).await, DeedOutcome::SoldOut, "its unit is the second order's");
    shop.stock("card", 1).await;
    assert!(is_done(shop.accept(first).await), "two units of a customer who may have one");
    shop.pay(second).await;
    shop.issue(&[first, second]).await;
    assert_eq!(shop.shelf("card").await.unissued, 0);
    shop.close().await;
}

#[tokio::test]
async fn an_order_that_is_paid_is_not_accepted_again() {
    let (shop, order) = ordered(1).await;
    shop.pay(order).await;
    assert_eq!(shop.accept(order).await, DeedOutcome::Refused(OrderStatus::Paid));
    shop.issue(&[order]).await;
    assert_eq!(shop.accept(order).await, DeedOutcome::Refused(OrderStatus::Issued));
    shop.refund(order).await;
    assert_eq!(shop.accept(order).await, DeedOutcome::Refused(OrderStatus::RefundDue));
    shop.close().await;
}

#[tokio::test]
async fn an_acceptance_in_doubt_is_done_once_and_said_to_be_done() {
    let (shop, order) = ordered(1).await;
    pays(&shop, order, 999).await;
    shop.faults.next(1, "committed", &"", How::Fail(StoreError::InDoubt("cut".to_owned())));
    assert!(is_done(shop.accept(order).await));
    assert_eq!(shop.audited("order.accept").await, 1);
    shop.issue(&[order]).await;
    shop.close().await;
}
