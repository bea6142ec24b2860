//! Refunds as they are told: by operators who confirm them, and by providers' notices.

use std::time::Duration;

use futures_util::future::join_all;
use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_model::text::OrderReference;
use tessera_orders::refunds::{RefundOutcome, RefundTold};
use tessera_store::{SetFault, StoreError};
use tessera_testbed::{How, Shop};

mod notices;

/// A shop with an order of 10.00 CNY, and what was paid for it under `r`.
async fn paid(minor: i64) -> (Shop, OrderId, PaymentId) {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 2).await;
    let order = shop.place("ann", &[("card", 1)]).await;
    shop.pay_with("acme", "r", &order.to_string(), minor, "CNY").await;
    shop.leftover_is_fine();
    let payment = shop.payments(None).await[0].payment.id;
    // Ids are listed by their millisecond.
    shop.clock.advance(Duration::from_secs(1));
    (shop, order, payment)
}

fn kept(payment: PaymentId, moved: i64) -> RefundOutcome {
    RefundOutcome::Kept { payment, moved, fits: true }
}

#[tokio::test]
async fn a_refunded_order_is_refunded_once_the_last_of_its_money_went_back() {
    let (shop, order, payment) = paid(1_300).await;
    assert_eq!(shop.confirm(payment, "b1", None).await, kept(payment, 300), "only what was over");
    assert_eq!(shop.status(order).await, OrderStatus::Paid);
    shop.refund(order).await;
    assert_eq!(shop.confirm(payment, "b2", Some(999)).await, kept(payment, 999));
    assert_eq!(shop.status(order).await, OrderStatus::RefundDue);
    assert_eq!(shop.confirm(payment, "b3", Some(2)).await, RefundOutcome::TooMuch { there: 1 });
    assert_eq!(shop.confirm(payment, "b3", None).await, kept(payment, 1));
    assert_eq!(shop.status(order).await, OrderStatus::Refunded);
    assert_eq!(shop.money(order).await, [(MoneyState::Refunded, 1_300)].into());
    assert_eq!(shop.confirm(payment, "b4", None).await, RefundOutcome::TooMuch { there: 0 });
    assert_eq!(shop.audited("payment.refunded").await, 3);
    shop.close().await;
}

#[tokio::test]
async fn an_order_of_two_payments_is_refunded_with_the_second() {
    let (shop, order, first) = paid(400).await;
    shop.pay_with("acme", "r2", &order.to_string(), 600, "CNY").await;
    let second = shop.payments(None).await[0].payment.id;
    shop.refund(order).await;
    let set = vec![shop.confirmed(first, "b1", None), shop.confirmed(second, "b2", Some(1))];
    assert_eq!(shop.refund_set(set).await, [Ok(kept(first, 400)), Ok(kept(second, 1))]);
    assert_eq!(shop.status(order).await, OrderStatus::RefundDue);
    shop.confirm(second, "b3", None).await;
    assert_eq!(shop.status(order).await, OrderStatus::Refunded);
    shop.close().await;
}

#[tokio::test]
async fn a_reference_moves_money_once_and_is_no_other_refunds() {
    let (shop, _, payment) = paid(1_300).await;
    shop.pay_with("acme", "r2", "nobody's", 50, "CNY").await;
    shop.clock.advance(Duration::from_secs(1));
    shop.pay_with("apex", "r2", "nobody's", 50, "CNY").await;
    let unmatched = shop.payments(Some(MoneyState::Unmatched)).await;
    let (apex, acme) = (unmatched[0].payment.id, unmatched[1].payment.id);
    assert_eq!(shop.confirm(payment, "b1", Some(100)).await, kept(payment, 100));
    for minor in [None, Some(100)] {
        assert_eq!(shop.confirm(payment, "b1", minor).await, RefundOutcome::Repeated(payment));
    }
    assert_eq!(shop.confirm(payment, "b1", Some(99)).await, RefundOutcome::ReferenceReused);
    assert_eq!(shop.confirm(acme, "b1", None).await, RefundOutcome::ReferenceReused, "another payment");
    assert_eq!(shop.confirm(apex, "b1", None).await, kept(apex, 50), "another provider");
    let set = vec![shop.confirmed(acme, "b2", Some(10)), shop.confirmed(payment, "b2", Some(10))];
    assert_eq!(shop.refund_set(set).await, [Ok(kept(acme, 10)), Ok(RefundOutcome::ReferenceReused)]);
    assert_eq!(shop.number("SELECT sum(amount) FROM money_entry WHERE state = 'refunded'").await, 160);
    shop.close().await;
}

#[tokio::test]
async fn an_unknown_payment_has_nothing_to_confirm() {
    let (shop, order, _) = paid(1_000).await;
    let unknown = PaymentId::from_uuid(order.uuid());
    assert_eq!(shop.confirm(unknown, "b1", None).await, RefundOutcome::NotFound);
    assert_eq!(shop.audited("payment.refunded").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn of_operators_who_confirm_at_once_no_more_is_taken_than_is_there() {
    let (shop, _, _) = paid(1_000).await;
    shop.pay_with("acme", "r2", "nobody's", 100, "CNY").await;
    let payment = shop.payments(Some(MoneyState::Unmatched)).await[0].payment.id;
    let names: Vec<String> = (0..8).map(|n| format!("b{n}")).collect();
    let outcomes = join_all(names.iter().map(|name| shop.confirm(payment, name, Some(30)))).await;
    assert_eq!(outcomes.iter().filter(|o| **o == kept(payment, 30)).count(), 3);
    assert_eq!(outcomes.iter().filter(|o| **o == RefundOutcome::TooMuch { there: 10 }).count(), 5);
    let same = join_all((0..8).map(|_| shop.confirm(payment, "last", None))).await;
    assert_eq!(same.iter().filter(|o| **o == kept(payment, 10)).count(), 1);
    assert_eq!(same.iter().filter(|o| **o == RefundOutcome::Repeated(payment)).count(), 7);
    shop.close().await;
}

#[tokio::test]
async fn a_refund_whose_commit_is_in_doubt_moves_money_once() {
    let (shop, _, payment) = paid(1_300).await;
    shop.faults.next(1, "committed", &"", How::Fail(StoreError::InDoubt("cut".to_owned())));
    assert_eq!(shop.confirm(payment, "b1", Some(100)).await, RefundOutcome::Repeated(payment));
    assert_eq!(shop.number("SELECT sum(amount) FROM money_entry WHERE state = 'refunded'").await, 100);
    shop.close().await;
}

#[tokio::test]
async fn a_refund_and_an_acceptance_of_one_order_at_once_agree() {
    let (shop, order, payment) = paid(900).await;
    shop.clock.advance(Duration::from_mins(15));
    shop.expire_due().await;
    tokio::join!(shop.confirm(payment, "b1", None), shop.accept(order));
    let money = shop.money(order).await;
    let (status, state) = match shop.status(order).await {
        OrderStatus::Paid => (OrderStatus::Paid, MoneyState::Settled),
        status => (status, MoneyState::Refunded),
    };
    assert_eq!((status != OrderStatus::RefundDue, money), (true, [(state, 900)].into()));
    shop.close().await;
}

/// The text under which notices know an order.
fn text(order: OrderId) -> OrderReference {
    OrderReference::parse(&order.to_string()).unwrap()
}

/// One outcome of a set of one.
async fn tell(shop: &Shop, told: RefundTold) -> Result<RefundOutcome, SetFault> {
    shop.refund_set(vec![told]).await.remove(0)
}
