//! Sets in which something is at fault.

use tessera_issuer::{IssueOutcome, Work};
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_store::{SetFault, StoreError};
use tessera_testbed::{How, Shop};

use super::{paid, sets, with_stock};

/// Runs the step over a set and says which places of it failed by a fault of their own.
async fn failed(shop: &Shop, orders: &[OrderId]) -> Vec<usize> {
    let works = orders.iter().map(|id| Work::Order(*id)).collect();
    let results = shop.issue_set(works).await.into_iter().enumerate();
    let failed = results.filter_map(|(n, result)| match result {
        Ok(result) => {
            assert_eq!(result.outcome, IssueOutcome::Issued);
            None
        }
        Err(SetFault::Data(_)) => Some(n),
        Err(other) => panic!("{other}"),
    });
    failed.collect()
}

#[tokio::test]
async fn one_damaged_order_among_256_fails_alone() {
    let (shop, _) = with_stock(256).await;
    let orders = paid(&shop, 256).await;
    let id = shop.literal(orders[130]);
    shop.operate(&format!("UPDATE orders SET currency = 'cny' WHERE id = {id}")).await;
    assert_eq!(failed(&shop, &orders).await, [130]);
    assert_eq!(shop.shelf("card").await.unissued, 1);
    shop.operate(&format!("UPDATE orders SET currency = 'CNY' WHERE id = {id}")).await;
    assert_eq!(shop.issue(&orders).await[130], IssueOutcome::Issued);
    shop.close().await;
}

#[tokio::test]
async fn one_order_that_makes_the_step_panic_among_256_fails_alone() {
    let (shop, _) = with_stock(256).await;
    let orders = paid(&shop, 256).await;
    shop.faults.always("spans_append", &orders[7], How::Panic);
    assert_eq!(failed(&shop, &orders).await, [7]);
    shop.faults.clear();
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn a_chain_that_would_break_stores_nothing() {
    let (shop, _) = with_stock(9).await;
    let orders = paid(&shop, 2).await;
    let forged = "INSERT INTO span (batch, start, upto, size, kind) \
                  SELECT id, 0, 1, size, 'void' FROM batch";
    shop.operate(forged).await;
    assert_eq!(failed(&shop, &orders).await, [0, 1]);
    assert_eq!(shop.number("SELECT count(*) FROM span WHERE kind = 'issue'").await, 0);
    assert_eq!(shop.statuses(&orders).await, [OrderStatus::Paid; 2]);
    shop.operate("UPDATE batch SET issued = 1").await;
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn a_store_that_is_away_fails_the_whole_set_and_gives_nothing() {
    let (shop, _) = with_stock(9).await;
    let orders = paid(&shop, 3).await;
    shop.faults.next(1, "orders_advance", &"", How::Fail(StoreError::Unavailable("disk full".to_owned())));
    let works = orders.iter().map(|id| Work::Order(*id)).collect();
    for result in shop.issue_set(works).await {
        assert!(matches!(result, Err(SetFault::Store(StoreError::Unavailable(_)))));
    }
    assert_eq!((sets(&shop).await, shop.shelf("card").await.unissued), (0, 9));
    shop.issue(&orders).await;
    shop.close().await;
}

#[tokio::test]
async fn a_set_whose_commit_was_in_doubt_gives_each_order_its_codes_once() {
    for at in ["commit", "committed"] {
        let (shop, codes) = with_stock(9).await;
        let orders = paid(&shop, 3).await;
        let doubt = StoreError::InDoubt("the answer was lost".to_owned());
        shop.faults.next(1, at, &"spans_append", How::Fail(doubt));
        shop.issue(&orders).await;
        assert_eq!(sets(&shop).await, 1, "{at}");
        for (order, code) in orders.iter().zip(&codes) {
            assert_eq!(shop.codes_of(*order).await, std::slice::from_ref(code));
        }
        shop.close().await;
    }
}
