//! The `test` provider: settles an order's price at once.

use std::time::Duration;

use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::order::OrderStatus;
use tessera_model::pay::{MoneyState, PaymentOutcome};
use tessera_orders::pay::{Incoming, PayOutcome, TestPayment};

use super::{money, ordered, outcome, with_stock};

#[tokio::test]
async fn a_second_click_pays_nothing_twice() {
    let (shop, order) = ordered(1).await;
    let answers = shop.pay_set(vec![shop.test_payment(order), shop.test_payment(order)]).await;
    let told: Vec<_> = answers.iter().map(outcome).collect();
    assert_eq!(told, [PaymentOutcome::Paid, PaymentOutcome::Duplicate]);
    let again = shop.desk.pay(shop.test_payment(order)).await;
    assert!(matches!(again, Ok(PayOutcome::Taken { outcome: PaymentOutcome::Duplicate, paid: None, .. })));
    shop.issue(&[order]).await;
    let again = shop.desk.pay(shop.test_payment(order)).await;
    assert!(matches!(again, Ok(PayOutcome::Taken { outcome: PaymentOutcome::Duplicate, paid: None, .. })));
    assert_eq!(shop.money(order).await, money([(MoneyState::Settled, 1_000)]));
    shop.close().await;
}

#[tokio::test]
async fn an_order_past_paying_is_not_payable_and_takes_no_money() {
    let shop = with_stock(2).await;
    let expired = shop.place("ann", &[("card", 1)]).await;
    shop.clock.advance(Duration::from_mins(15));
    shop.expire_due().await;
    let cancelled = shop.place("ann", &[("card", 1)]).await;
    shop.cancel(cancelled).await;
    for (order, status) in [(expired, OrderStatus::Expired), (cancelled, OrderStatus::Cancelled)] {
        let answer = shop.desk.pay(shop.test_payment(order)).await;
        assert_eq!(answer, Ok(PayOutcome::NotPayable(status)));
    }
    assert_eq!(shop.number("SELECT count(*) FROM payment").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn a_wrong_epoch_or_order_is_not_found() {
    let (shop, order) = ordered(1).await;
    let wish = |order: OrderId, epoch| {
        Incoming::Test(TestPayment { payment: PaymentId::from_uuid(order.uuid()), order, epoch })
    };
    let stranger = OrderId::parse("00000000-0000-7000-8000-000000000000").unwrap();
    for incoming in [wish(order, 1), wish(stranger, 0)] {
        assert_eq!(shop.desk.pay(incoming).await, Ok(PayOutcome::NotFound));
    }
    assert_eq!(shop.status(order).await, OrderStatus::AwaitingPayment);
    shop.close().await;
}

#[tokio::test]
async fn it_pays_the_whole_price_also_of_an_order_that_was_paid_in_part() {
    let (shop, order) = ordered(1).await;
    shop.pay_with("acme", "r", &order.to_string(), 400, "CNY").await;
    let answer = shop.pay_set(vec![shop.test_payment(order)]).await;
    assert_eq!(outcome(&answer[0]), PaymentOutcome::Over);
    let split = money([(MoneyState::Settled, 1_000), (MoneyState::RefundDue, 400)]);
    assert_eq!(shop.money(order).await, split);
    shop.issue(&[order]).await;
    shop.close().await;
}
