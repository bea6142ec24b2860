//! Pay: where each payment's money goes, and what it does to its order.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::{MoneyState, PaymentOutcome};
use tessera_orders::pay::{Incoming, PayOutcome};
use tessera_store::SetFault;
use tessera_testbed::Shop;

mod doubt;
mod late;
mod short;
mod storm;
mod test_provider;

/// A shop with one product of 10.00 CNY and some stock of it.
async fn with_stock(count: usize) -> Shop {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", count).await;
    shop
}

async fn ordered(count: usize) -> (Shop, OrderId) {
    let shop = with_stock(count).await;
    let order = shop.place("ann", &[("card", 1)]).await;
    (shop, order)
}

fn money<const N: usize>(portions: [(MoneyState, i64); N]) -> BTreeMap<MoneyState, i64> {
    portions.into()
}

fn outcome(answer: &Result<PayOutcome, SetFault>) -> PaymentOutcome {
    match answer {
        Ok(PayOutcome::Taken { outcome, .. }) => *outcome,
        other => panic!("not taken: {other:?}"),
    }
}

async fn unmatched(shop: &Shop) -> i64 {
    shop.number("SELECT coalesce(sum(amount), 0) FROM money_entry WHERE state = 'unmatched'").await
}

#[tokio::test]
async fn the_exact_amount_pays() {
    let (shop, order) = ordered(1).await;
    assert_eq!(shop.pay(order).await, PaymentOutcome::Paid);
    assert_eq!(shop.status(order).await, OrderStatus::Paid);
    assert_eq!(shop.money(order).await, money([(MoneyState::Settled, 1_000)]));
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn the_same_notice_fifty_times_in_one_set_pays_once_and_all_succeed() {
    let (shop, order) = ordered(9).await;
    let set = (0..50).map(|_| shop.notice("acme", "r1", &order.to_string(), 1_000, "CNY")).collect();
    let outcomes = shop.pay_set(set).await;
    assert_eq!(outcome(&outcomes[0]), PaymentOutcome::Paid);
    assert!(outcomes[1..].iter().all(|o| outcome(o) == PaymentOutcome::Duplicate));
    assert_eq!(shop.money(order).await, money([(MoneyState::Settled, 1_000)]));
    shop.issue(&[order]).await;
    assert_eq!(shop.codes_of(order).await.len(), 1);
    assert_eq!(shop.shelf("card").await.unissued, 8);
    shop.close().await;
}

#[tokio::test]
async fn the_same_notice_fifty_times_at_once_pays_once_and_all_succeed() {
    let (shop, order) = ordered(9).await;
    let text = order.to_string();
    let notices = (0..50).map(|_| shop.pay_with("acme", "r1", &text, 1_000, "CNY"));
    let outcomes = join_all(notices).await;
    assert_eq!(outcomes.iter().filter(|o| **o == PaymentOutcome::Paid).count(), 1);
    assert_eq!(outcomes.iter().filter(|o| **o == PaymentOutcome::Duplicate).count(), 49);
    shop.until_published(1).await;
    assert_eq!(shop.broker.left().await, 1);
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn two_providers_may_use_one_reference() {
    let (shop, first) = ordered(2).await;
    let second = shop.place("bob", &[("card", 1)]).await;
    let pay =
        async |provider, order: OrderId| shop.pay_with(provider, "1", &order.to_string(), 1_000, "CNY").await;
    assert_eq!(pay("acme", first).await, PaymentOutcome::Paid);
    assert_eq!(pay("apex", second).await, PaymentOutcome::Paid);
    shop.issue(&[first, second]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_reference_that_comes_again_with_another_amount_or_order_is_recorded_without_money() {
    let (shop, order) = ordered(2).await;
    let other = shop.place("bob", &[("card", 1)]).await;
    shop.pay_with("acme", "r1", &order.to_string(), 1_000, "CNY").await;
    for (order, minor, currency) in [(order, 999, "CNY"), (order, 1_000, "EUR"), (other, 1_000, "CNY")] {
        let again = shop.pay_with("acme", "r1", &order.to_string(), minor, currency).await;
        assert_eq!(again, PaymentOutcome::Recorded);
    }
    let reasons: Vec<String> = shop.notices().await.into_iter().map(|notice| notice.reason).collect();
    assert_eq!(reasons.len(), 3);
    assert!(reasons.iter().all(|r| r.contains(&order.to_string()) && r.contains("1000 CNY")), "{reasons:?}");
    assert!(reasons.iter().any(|r| r.contains("999 CNY")) && reasons.iter().any(|r| r.contains("1000 EUR")));
    assert!(reasons.iter().any(|r| r.contains(&other.to_string())));
    assert_eq!(shop.number("SELECT count(*) FROM money_entry").await, 1);
    assert_eq!(shop.status(other).await, OrderStatus::AwaitingPayment);
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn more_than_due_pays_and_the_rest_is_to_be_paid_back() {
    let (shop, order) = ordered(1).await;
    assert_eq!(shop.pay_with("acme", "r", &order.to_string(), 1_001, "CNY").await, PaymentOutcome::Over);
    let split = money([(MoneyState::Settled, 1_000), (MoneyState::RefundDue, 1)]);
    assert_eq!(shop.money(order).await, split);
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_second_payment_is_to_be_paid_back_in_whatever_state_the_order_is() {
    let (shop, order) = ordered(1).await;
    shop.pay(order).await;
    assert_eq!(shop.pay(order).await, PaymentOutcome::RefundDue);
    shop.issue(&[order]).await;
    assert_eq!(shop.pay(order).await, PaymentOutcome::RefundDue);
    assert_eq!(shop.status(order).await, OrderStatus::Issued);
    let split = money([(MoneyState::Settled, 1_000), (MoneyState::RefundDue, 2_000)]);
    assert_eq!(shop.money(order).await, split);
    assert_eq!(shop.codes_of(order).await.len(), 1);
    shop.close().await;
}

#[tokio::test]
async fn of_two_payments_for_one_order_in_one_set_the_second_is_to_be_paid_back() {
    let (shop, order) = ordered(1).await;
    let set = vec![shop.exact_notice(order).await, shop.exact_notice(order).await];
    let outcomes = shop.pay_set(set).await;
    let told: Vec<_> = outcomes.iter().map(outcome).collect();
    assert_eq!(told, [PaymentOutcome::Paid, PaymentOutcome::RefundDue]);
    assert!(matches!(outcomes[1], Ok(PayOutcome::Taken { paid: None, .. })));
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_wrong_currency_is_kept_unmatched_and_pays_nothing() {
    let (shop, order) = ordered(1).await;
    assert_eq!(shop.pay_with("acme", "r", &order.to_string(), 1_000, "EUR").await, PaymentOutcome::Unmatched);
    assert_eq!(shop.status(order).await, OrderStatus::AwaitingPayment);
    assert_eq!((shop.money(order).await, unmatched(&shop).await), (money([]), 1_000));
    shop.close().await;
}

#[tokio::test]
async fn an_unknown_order_is_kept_unmatched_and_never_matched_by_amount() {
    let (shop, order) = ordered(1).await;
    for (reference, text) in
        [("r1", "no order of ours"), ("r2", "00000000-0000-7000-8000-000000000000"), ("r3", "1")]
    {
        assert_eq!(shop.pay_with("acme", reference, text, 1_000, "CNY").await, PaymentOutcome::Unmatched);
    }
    assert_eq!(shop.status(order).await, OrderStatus::AwaitingPayment);
    assert_eq!(unmatched(&shop).await, 3_000);
    let reasons = "SELECT count(*) FROM payment WHERE reason = 'unknown_order' AND order_id IS NULL";
    assert_eq!(shop.number(reasons).await, 3);
    shop.close().await;
}

#[tokio::test]
async fn of_two_orders_of_equal_price_the_one_that_is_named_is_paid() {
    let (shop, first) = ordered(2).await;
    shop.clock.advance(std::time::Duration::from_mins(15));
    assert_eq!(shop.expire_due().await, [first]);
    let second = shop.place("ann", &[("card", 1)]).await;
    shop.pay(second).await;
    shop.issue(&[second]).await;
    assert_eq!(shop.statuses(&[first, second]).await, [OrderStatus::Expired, OrderStatus::Issued]);
    shop.close().await;
}

#[tokio::test]
async fn a_set_of_256_payments_pays_256_orders() {
    let shop = with_stock(256).await;
    let new = (0..256).map(|n| shop.new_order(&format!("buyer {n}"), &[("card", 1)])).collect::<Vec<_>>();
    let ids: Vec<OrderId> = new.iter().map(|n| n.id).collect();
    shop.place_set(new).await;
    let notice =
        |(n, id): (usize, &OrderId)| shop.notice("acme", &format!("set-{n}"), &id.to_string(), 1_000, "CNY");
    let set: Vec<Incoming> = ids.iter().enumerate().map(notice).collect();
    for answer in shop.pay_set(set).await {
        assert_eq!(outcome(&answer), PaymentOutcome::Paid);
    }
    shop.issue(&ids).await;
    assert_eq!(shop.statuses(&ids).await, [OrderStatus::Issued; 256]);
    shop.close().await;
}
