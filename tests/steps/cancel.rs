//! Cancel: a buyer gives the claim back before paying.

use std::time::Duration;

use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_orders::release::{CancelOutcome, Cancellation};
use tessera_testbed::Shop;

async fn ordered() -> (Shop, OrderId) {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.per_customer_limit = Some(2)).await;
    shop.stock("card", 2).await;
    let order = shop.place("ann", &[("card", 2)]).await;
    (shop, order)
}

#[tokio::test]
async fn a_cancelled_order_gives_claim_and_units_back_once() {
    let (shop, order) = ordered().await;
    assert_eq!(shop.cancel(order).await, CancelOutcome::Cancelled);
    assert_eq!(shop.cancel(order).await, CancelOutcome::Cancelled);
    assert_eq!(shop.shelf("card").await.available(), 2);
    assert_eq!(shop.number("SELECT units FROM customer_product").await, 0);
    shop.place("ann", &[("card", 2)]).await;
    shop.close().await;
}

#[tokio::test]
async fn cancelled_twenty_times_at_once_it_gives_back_once() {
    let (shop, order) = ordered().await;
    let wishes = (0..20).map(|_| shop.cancel(order));
    let outcomes = futures_util::future::join_all(wishes).await;
    assert_eq!(outcomes, [CancelOutcome::Cancelled; 20]);
    assert_eq!(shop.order(order).await.version, 2);
    shop.close().await;
}

#[tokio::test]
async fn a_paid_issued_or_expired_order_is_not_cancelled() {
    let (shop, order) = ordered().await;
    shop.pay(order).await;
    assert_eq!(shop.cancel(order).await, CancelOutcome::NotCancellable(OrderStatus::Paid));
    shop.issue(&[order]).await;
    assert_eq!(shop.cancel(order).await, CancelOutcome::NotCancellable(OrderStatus::Issued));
    shop.stock("card", 1).await;
    let other = shop.place("bob", &[("card", 1)]).await;
    shop.clock.advance(Duration::from_mins(15));
    shop.expire_due().await;
    assert_eq!(shop.cancel(other).await, CancelOutcome::NotCancellable(OrderStatus::Expired));
    shop.close().await;
}

#[tokio::test]
async fn a_wrong_epoch_cancels_nothing() {
    let (shop, order) = ordered().await;
    let outcome = shop.desk.cancel(Cancellation { order, epoch: 1 }).await;
    assert_eq!(outcome, Ok(CancelOutcome::NotFound));
    assert_eq!(shop.status(order).await, OrderStatus::AwaitingPayment);
    shop.close().await;
}

#[tokio::test]
async fn cancelled_and_paid_at_once_it_is_paid_in_the_end_and_claims_once() {
    for cancel_first in [true, false] {
        let (shop, order) = ordered().await;
        let notice = shop.exact_notice(order).await;
        let (pay, cancel) = (shop.desk.pay(notice), shop.desk.cancel(Cancellation { order, epoch: 0 }));
        match cancel_first {
            true => drop(tokio::join!(cancel, pay)),
            false => drop(tokio::join!(pay, cancel)),
        }
        assert_eq!(shop.status(order).await, OrderStatus::Paid);
        assert_eq!(shop.shelf("card").await.claimed, 2);
        shop.issue(&[order]).await;
        shop.close().await;
    }
}
