//! How long a lock is waited for, and how long a holder that stands still keeps it.

use tessera_store::StoreError;

use super::{PATIENCE, begin, is_unavailable, open, until_blocked, with_product};

#[tokio::test]
async fn lock_that_is_not_given_in_time_is_unavailable() {
    let (shop, product) = with_product().await;
    let (mut holder, mut waiter) = (begin(&shop).await, begin(&shop).await);
    holder.stock_lock(&[product]).await.expect("it is free");
    let waiting = tokio::spawn(async move { waiter.stock_lock(&[product]).await });
    // A holder that works on is not ended for standing still.
    let working = async {
        while !waiting.is_finished() {
            holder.meta().await.expect("the holder works on");
        }
    };
    tokio::time::timeout(PATIENCE, working).await.expect("the waiter waits for ever");
    let outcome = waiting.await.expect("the waiter ends");
    assert!(is_unavailable(&outcome), "{outcome:?}");
    assert!(format!("{outcome:?}").contains("55P03"), "{outcome:?}");
    holder.commit().await.expect("the holder commits");
    shop.close().await;
}

#[tokio::test]
async fn holder_that_stands_still_loses_its_locks_and_never_commits() {
    let (shop, product) = with_product().await;
    let (mut frozen, mut waiter) = (begin(&shop).await, begin(&shop).await);
    frozen.stock_lock(&[product]).await.expect("it is free");
    frozen.stock_move(&[(product, 5)]).await.expect("the claim rises");
    let waiting = tokio::spawn(async move {
        waiter.stock_lock(&[product]).await?;
        waiter.stock_read(&[product]).await
    });
    until_blocked(&shop, 1).await;
    let stock = tokio::time::timeout(PATIENCE, waiting).await.expect("the waiter waits for ever");
    assert_eq!(stock.expect("the waiter ends").expect("the lock is given")[0].1.claimed, 0);
    let late = frozen.commit().await;
    assert!(matches!(late, Err(StoreError::Unavailable(_) | StoreError::InDoubt(_))), "{late:?}");
    shop.close().await;
}

#[tokio::test]
async fn transaction_that_failed_does_not_commit_what_went_before() {
    let shop = open().await;
    let mut tx = begin(&shop).await;
    tx.sets_raise().await.expect("it rises");
    let refused = tx.partitions_put(0).await;
    assert!(matches!(refused, Err(StoreError::Data(_))), "{refused:?}");
    assert_eq!(tx.meta().await.err(), refused.clone().err(), "it says again what it failed by");
    assert_eq!(tx.commit().await, refused);
    assert_eq!(shop.number("SELECT sets FROM store").await, 0);
    shop.close().await;
}
