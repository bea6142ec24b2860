//! What operators do to orders: each deed once, with its reason in the log, whoever else is at it.

use std::time::Duration;

use futures_util::future::join_all;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_orders::operators::DeedOutcome;
use tessera_testbed::Shop;

mod accept;
mod refund;

const HOLD: Duration = Duration::from_mins(15);

/// A shop with one product of 10.00 CNY and some stock of it.
async fn with_stock(count: usize) -> Shop {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    if count > 0 {
        shop.stock("card", count).await;
    }
    shop
}

async fn ordered(count: usize) -> (Shop, OrderId) {
    let shop = with_stock(count).await;
    let order = shop.place("ann", &[("card", 1)]).await;
    (shop, order)
}

/// Pays part of an order, under a reference of its own.
async fn pays(shop: &Shop, order: OrderId, minor: i64) {
    shop.pay_with("acme", &shop.reference(), &order.to_string(), minor, "CNY").await;
}

fn is_done(outcome: DeedOutcome) -> bool {
    matches!(outcome, DeedOutcome::Done { .. })
}

#[tokio::test]
async fn an_operator_cancels_once_and_what_was_short_is_to_be_paid_back() {
    let (shop, order) = ordered(1).await;
    pays(&shop, order, 400).await;
    assert!(is_done(shop.cancel_for(order).await));
    assert_eq!(shop.cancel_for(order).await, DeedOutcome::Already(OrderStatus::Cancelled));
    assert_eq!(shop.money(order).await, [(MoneyState::RefundDue, 400)].into());
    assert_eq!((shop.shelf("card").await.available(), shop.audited("order.cancel").await), (1, 1));
    shop.close().await;
}

#[tokio::test]
async fn an_operator_cancels_nothing_that_is_paid() {
    let (shop, order) = ordered(1).await;
    shop.pay(order).await;
    assert_eq!(shop.cancel_for(order).await, DeedOutcome::Refused(OrderStatus::Paid));
    shop.issue(&[order]).await;
    assert_eq!(shop.cancel_for(order).await, DeedOutcome::Refused(OrderStatus::Issued));
    let unknown = OrderId::parse("00000000-0000-7000-8000-000000000000").unwrap();
    for outcome in [shop.cancel_for(unknown).await, shop.refund(unknown).await, shop.accept(unknown).await] {
        assert_eq!(outcome, DeedOutcome::NotFound);
    }
    assert_eq!(shop.audited("order.cancel").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn of_operators_at_once_one_does_it() {
    let (shop, order) = ordered(2).await;
    pays(&shop, order, 999).await;
    let accepted = join_all((0..8).map(|_| shop.accept(order))).await;
    assert_eq!(accepted.iter().filter(|o| is_done(**o)).count(), 1);
    assert!(accepted.iter().all(|o| is_done(*o) || *o == DeedOutcome::Refused(OrderStatus::Paid)));
    let refunded = join_all((0..8).map(|_| shop.refund(order))).await;
    assert_eq!(refunded.iter().filter(|o| is_done(**o)).count(), 1);
    assert!(refunded.iter().all(|o| is_done(*o) || *o == DeedOutcome::Already(OrderStatus::RefundDue)));
    let cancelled = shop.place("bob", &[("card", 1)]).await;
    let cancelled = join_all((0..8).map(|_| shop.cancel_for(cancelled))).await;
    assert_eq!(cancelled.iter().filter(|o| is_done(**o)).count(), 1);
    for action in ["order.accept", "order.refund", "order.cancel"] {
        assert_eq!(shop.audited(action).await, 1, "{action}");
    }
    shop.close().await;
}
