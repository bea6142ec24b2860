//! Sets of payments that fail, in part or in doubt.

use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::{MoneyState, PaymentOutcome};
use tessera_orders::Failure;
use tessera_orders::pay::Incoming;
use tessera_store::{SetFault, StoreError};
use tessera_testbed::{How, Shop};

use super::{money, ordered, outcome, with_stock};

async fn of_256() -> (Shop, Vec<OrderId>, Vec<Incoming>) {
    let shop = with_stock(256).await;
    let new = (0..256).map(|n| shop.new_order(&format!("buyer {n}"), &[("card", 1)])).collect::<Vec<_>>();
    let ids: Vec<OrderId> = new.iter().map(|n| n.id).collect();
    shop.place_set(new).await;
    let notice = |id: &OrderId| shop.notice("acme", &shop.reference(), &id.to_string(), 1_000, "CNY");
    let set = ids.iter().map(notice).collect();
    (shop, ids, set)
}

#[tokio::test]
async fn one_payment_that_cannot_be_stored_among_256_fails_alone() {
    for how in [How::Fail(StoreError::Data("CHECK constraint failed".to_owned())), How::Panic] {
        let (shop, ids, set) = of_256().await;
        shop.faults.always("payments_claim", &ids[200], how);
        for (n, answer) in shop.pay_set(set).await.into_iter().enumerate() {
            match n {
                200 => assert!(matches!(answer, Err(SetFault::Data(_)))),
                _ => assert_eq!(outcome(&answer), PaymentOutcome::Paid),
            }
        }
        assert_eq!(shop.status(ids[200]).await, OrderStatus::AwaitingPayment);
        shop.issue(&ids).await;
        shop.close().await;
    }
}

#[tokio::test]
async fn a_payment_that_the_store_could_not_take_is_taken_when_it_is_told_again() {
    let (shop, order) = ordered(1).await;
    let unavailable = || How::Fail(StoreError::Unavailable("disk full".to_owned()));
    shop.faults.next(1, "orders_advance", &order, unavailable());
    let notice = shop.notice("acme", "r", &order.to_string(), 1_000, "CNY");
    let answer = shop.desk.pay(notice).await;
    assert!(matches!(answer, Err(Failure::Set(SetFault::Store(StoreError::Unavailable(_))))), "{answer:?}");
    assert_eq!(shop.number("SELECT count(*) FROM payment").await, 0);
    assert_eq!(shop.pay_with("acme", "r", &order.to_string(), 1_000, "CNY").await, PaymentOutcome::Paid);
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_payment_whose_commit_was_in_doubt_is_taken_once() {
    for at in ["commit", "committed"] {
        let (shop, order) = ordered(1).await;
        shop.faults.next(1, at, &"", How::Fail(StoreError::InDoubt("the answer was lost".to_owned())));
        let outcome = shop.pay_with("acme", "r", &order.to_string(), 1_000, "CNY").await;
        assert!(matches!(outcome, PaymentOutcome::Paid | PaymentOutcome::Duplicate), "{at}: {outcome:?}");
        assert_eq!(shop.money(order).await, money([(MoneyState::Settled, 1_000)]));
        assert_eq!(shop.status(order).await, OrderStatus::Paid);
        shop.issue(&[order]).await;
        shop.close().await;
    }
}
