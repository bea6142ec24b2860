//! Payments of less than is due: they add up, and are paid back when the order is released.

use std::time::Duration;

use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::PaymentOutcome::{Over, RefundDue, Short};
use tessera_model::pay::{MoneyState, PaymentOutcome};
use tessera_testbed::Shop;

use super::{money, ordered, outcome};

async fn pay_part(shop: &Shop, order: OrderId, minor: i64) -> PaymentOutcome {
    shop.pay_with("acme", &shop.reference(), &order.to_string(), minor, "CNY").await
}

#[tokio::test]
async fn short_payments_add_up_to_a_paid_order() {
    let (shop, order) = ordered(1).await;
    assert_eq!(pay_part(&shop, order, 400).await, PaymentOutcome::Short);
    assert_eq!(pay_part(&shop, order, 599).await, PaymentOutcome::Short);
    assert_eq!(shop.status(order).await, OrderStatus::AwaitingPayment);
    assert_eq!(shop.money(order).await, money([(MoneyState::Short, 999)]));
    assert_eq!(pay_part(&shop, order, 1).await, PaymentOutcome::Paid);
    assert_eq!(shop.money(order).await, money([(MoneyState::Settled, 1_000)]));
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn short_payments_of_one_set_add_up_too() {
    let (shop, order) = ordered(1).await;
    let part = |minor| shop.notice("acme", &format!("part-{minor}"), &order.to_string(), minor, "CNY");
    let outcomes = shop.pay_set(vec![part(600), part(300), part(150), part(7)]).await;
    let told: Vec<_> = outcomes.iter().map(outcome).collect();
    assert_eq!(told, [Short, Short, Over, RefundDue]);
    let split = money([(MoneyState::Settled, 1_000), (MoneyState::RefundDue, 57)]);
    assert_eq!(shop.money(order).await, split);
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn short_money_of_an_expired_order_is_to_be_paid_back() {
    let (shop, order) = ordered(1).await;
    pay_part(&shop, order, 400).await;
    pay_part(&shop, order, 500).await;
    shop.clock.advance(Duration::from_mins(15));
    assert_eq!(shop.expire_due().await, [order]);
    assert_eq!(shop.money(order).await, money([(MoneyState::RefundDue, 900)]));
    assert_eq!(pay_part(&shop, order, 100).await, PaymentOutcome::RefundDue);
    assert_eq!(shop.status(order).await, OrderStatus::Expired);
    assert_eq!(shop.money(order).await, money([(MoneyState::RefundDue, 1_000)]));
    shop.close().await;
}

#[tokio::test]
async fn short_money_of_a_cancelled_order_is_to_be_paid_back() {
    let (shop, order) = ordered(1).await;
    pay_part(&shop, order, 400).await;
    shop.cancel(order).await;
    assert_eq!(shop.money(order).await, money([(MoneyState::RefundDue, 400)]));
    shop.close().await;
}

#[tokio::test]
async fn money_paid_back_once_does_not_count_for_a_late_payment() {
    let (shop, order) = ordered(1).await;
    pay_part(&shop, order, 400).await;
    shop.clock.advance(Duration::from_mins(15));
    shop.expire_due().await;
    assert_eq!(pay_part(&shop, order, 1_000).await, PaymentOutcome::Paid);
    let split = money([(MoneyState::Settled, 1_000), (MoneyState::RefundDue, 400)]);
    assert_eq!(shop.money(order).await, split);
    shop.issue(&[order]).await;
    shop.close().await;
}
