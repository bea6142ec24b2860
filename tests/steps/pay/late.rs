//! Payments that come after their order expired or was cancelled.

use std::time::Duration;

use futures_util::future::join_all;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::{MoneyState, PaymentOutcome};
use tessera_model::product::ProductRules;
use tessera_orders::pay::PayOutcome;
use tessera_testbed::Shop;

use super::{money, unmatched, with_stock};

const HOLD: Duration = Duration::from_mins(15);

/// Orders of one unit each, by these customers, all expired.
async fn expired(shop: &Shop, customers: &[&str]) -> Vec<OrderId> {
    let mut orders = vec![];
    for customer in customers {
        orders.push(shop.place(customer, &[("card", 1)]).await);
    }
    shop.clock.advance(HOLD);
    assert_eq!(shop.expire_due().await.len(), customers.len());
    orders
}

#[tokio::test]
async fn a_late_payment_with_stock_revives_the_order_and_claims_again() {
    let shop = with_stock(1).await;
    let order = expired(&shop, &["ann"]).await[0];
    assert_eq!(shop.pay(order).await, PaymentOutcome::Paid);
    assert_eq!(shop.shelf("card").await.claimed, 1);
    let issuer = shop.start_issuer().await;
    shop.until(&[order], OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn a_late_payment_of_a_cancelled_order_revives_it_too() {
    let shop = with_stock(1).await;
    let order = shop.place("ann", &[("card", 1)]).await;
    shop.cancel(order).await;
    assert_eq!(shop.pay(order).await, PaymentOutcome::Paid);
    shop.issue(&[order]).await;
    assert_eq!(shop.codes_of(order).await.len(), 1);
    shop.close().await;
}

#[tokio::test]
async fn a_late_payment_without_stock_is_to_be_paid_back_and_the_order_stays_expired() {
    let shop = with_stock(1).await;
    let order = expired(&shop, &["ann"]).await[0];
    shop.place("bob", &[("card", 1)]).await;
    assert_eq!(shop.pay(order).await, PaymentOutcome::RefundDue);
    assert_eq!(shop.status(order).await, OrderStatus::Expired);
    assert_eq!(shop.money(order).await, money([(MoneyState::RefundDue, 1_000)]));
    assert_eq!(shop.number("SELECT count(*) FROM payment WHERE reason = 'too_late'").await, 1);
    shop.close().await;
}

#[tokio::test]
async fn a_late_payment_is_honoured_within_the_customers_limit_only() {
    let shop = with_stock(9).await;
    let limit = |rules: &mut ProductRules| rules.per_customer_limit = Some(1);
    shop.product("card", limit).await;
    let first = expired(&shop, &["ann"]).await[0];
    let second = shop.place("ann", &[("card", 1)]).await;
    assert_eq!(shop.pay(first).await, PaymentOutcome::RefundDue);
    shop.cancel(second).await;
    assert_eq!(shop.pay(first).await, PaymentOutcome::Paid);
    shop.issue(&[first]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_late_payment_does_not_make_an_old_customer_new() {
    let shop = with_stock(9).await;
    shop.product("gift", |rules| rules.new_customers_only = true).await;
    shop.stock("gift", 9).await;
    let gift = shop.place("ann", &[("gift", 1)]).await;
    shop.cancel(gift).await;
    let card = shop.place("ann", &[("card", 1)]).await;
    assert_eq!(shop.pay(gift).await, PaymentOutcome::RefundDue);
    shop.cancel(card).await;
    assert_eq!(shop.pay(gift).await, PaymentOutcome::Paid);
    shop.issue(&[gift]).await;
    shop.close().await;
}

#[tokio::test]
async fn of_late_payments_at_once_as_many_are_honoured_as_there_is_stock() {
    let shop = with_stock(3).await;
    let first = expired(&shop, &["a", "b", "c"]).await;
    let second = expired(&shop, &["d", "e"]).await;
    let orders = [first, second].concat();
    let outcomes = join_all(orders.iter().map(|id| shop.pay(*id))).await;
    assert_eq!(outcomes.iter().filter(|o| **o == PaymentOutcome::Paid).count(), 3);
    assert_eq!(outcomes.iter().filter(|o| **o == PaymentOutcome::RefundDue).count(), 2);
    shop.issue(&orders).await;
    assert_eq!(shop.shelf("card").await.unissued, 0);
    shop.close().await;
}

#[tokio::test]
async fn two_late_payments_of_one_order_at_once_pay_it_once() {
    let shop = with_stock(3).await;
    let order = expired(&shop, &["ann"]).await[0];
    let outcomes = join_all([shop.pay(order), shop.pay(order)]).await;
    assert!(outcomes.contains(&PaymentOutcome::Paid) && outcomes.contains(&PaymentOutcome::RefundDue));
    let split = money([(MoneyState::Settled, 1_000), (MoneyState::RefundDue, 1_000)]);
    assert_eq!(shop.money(order).await, split);
    assert_eq!(shop.shelf("card").await.claimed, 1);
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_wrong_currency_after_expiry_is_unmatched_as_before_it() {
    let shop = with_stock(1).await;
    let order = expired(&shop, &["ann"]).await[0];
    assert_eq!(shop.pay_with("acme", "r", &order.to_string(), 1_000, "EUR").await, PaymentOutcome::Unmatched);
    assert_eq!((shop.status(order).await, unmatched(&shop).await), (OrderStatus::Expired, 1_000));
    shop.close().await;
}

#[tokio::test]
async fn late_and_timely_payments_of_one_set_are_all_taken() {
    let shop = with_stock(2).await;
    let late = expired(&shop, &["ann"]).await[0];
    let timely = shop.place("bob", &[("card", 1)]).await;
    let outcomes = join_all([shop.pay(late), shop.pay(timely)]).await;
    assert_eq!(outcomes, [PaymentOutcome::Paid; 2]);
    shop.issue(&[late, timely]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_late_notice_and_its_repeat_in_one_set_are_put_back_together() {
    let shop = with_stock(1).await;
    let order = expired(&shop, &["ann"]).await[0];
    let notice = || shop.notice("acme", "r", &order.to_string(), 1_000, "CNY");
    let answers = shop.pay_set(vec![notice(), notice()]).await;
    // Answered as known before it is kept, a repeat would stop the provider from telling again.
    assert!(answers.iter().all(|answer| *answer == Ok(PayOutcome::Late)), "{answers:?}");
    assert_eq!(shop.number("SELECT count(*) FROM payment").await, 0);
    let text = order.to_string();
    let at_the_desk = join_all((0..2).map(|_| shop.pay_with("acme", "r", &text, 1_000, "CNY"))).await;
    assert_eq!(at_the_desk, [PaymentOutcome::Paid, PaymentOutcome::Duplicate]);
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_late_notice_and_another_of_its_reference_in_one_set_are_told_apart() {
    let shop = with_stock(1).await;
    let order = expired(&shop, &["ann"]).await[0];
    let text = order.to_string();
    let notices = [1_000, 999].map(|minor| shop.pay_with("acme", "r", &text, minor, "CNY"));
    assert_eq!(join_all(notices).await, [PaymentOutcome::Paid, PaymentOutcome::Recorded]);
    assert_eq!(shop.notices().await.len(), 1);
    shop.issue(&[order]).await;
    shop.close().await;
}
