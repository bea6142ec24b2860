//! Codes and the opening of their batch wait for one another.

use tessera_model::ids::BatchId;
use tessera_model::keys::{Fingerprint, KeyId, WrappedKey};
use tessera_model::product::Pick;
use tessera_store::batches::{NewBatch, NewCode};
use tessera_store::{Clock, Result, StoreError};
use tessera_testbed::Shop;

use super::{PATIENCE, begin, until_blocked, with_product};

fn code(position: i64, fingerprint: u8) -> NewCode {
    NewCode { position, sealed: vec![fingerprint], fingerprint: Fingerprint::from_bytes([fingerprint; 16]) }
}

/// A shop with a batch that holds one code and is loading.
async fn with_loading() -> (Shop, BatchId) {
    let (shop, product) = with_product().await;
    let id = BatchId::new(shop.clock.now(), shop.entropy.bytes());
    let key = WrappedKey { key: KeyId::parse("test-1").expect("a key's id"), bytes: vec![1] };
    let mut tx = begin(&shop).await;
    tx.batches_begin(&NewBatch {
        id,
        product,
        pick: Pick::Fifo,
        key,
        bought: tessera_store::batches::Bought::default(),
    })
    .await
    .expect("it is begun");
    tx.codes_insert(id, &[code(0, 1)]).await.expect("it is loading");
    tx.commit().await.expect("it commits");
    (shop, id)
}

async fn outcome(
    shop: &Shop,
    waiting: tokio::task::JoinHandle<Result<()>>,
    winner: Box<dyn tessera_store::Tx>,
) -> Result<()> {
    until_blocked(shop, 1).await;
    winner.commit().await.expect("the winner commits");
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .expect("the waiter waits for ever")
        .expect("the waiter ends")
}

#[tokio::test]
async fn code_that_waited_for_the_opening_is_refused() {
    let (shop, batch) = with_loading().await;
    let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
    winner.batches_open(batch, 1).await.expect("it holds one code");
    let waiting = tokio::spawn(async move { waiter.codes_insert(batch, &[code(1, 2)]).await });
    let late = outcome(&shop, waiting, winner).await;
    assert!(matches!(late, Err(StoreError::Data(_))), "{late:?}");
    assert_eq!(shop.number("SELECT count(*) FROM code").await, 1);
    shop.close().await;
}

#[tokio::test]
async fn opening_that_waited_for_a_code_counts_it() {
    let (shop, batch) = with_loading().await;
    shop.leftover_is_fine();
    let (mut winner, mut waiter) = (begin(&shop).await, begin(&shop).await);
    winner.codes_insert(batch, &[code(1, 2)]).await.expect("it is loading");
    let waiting = tokio::spawn(async move { waiter.batches_open(batch, 1).await });
    let early = outcome(&shop, waiting, winner).await;
    assert!(matches!(early, Err(StoreError::Data(_))), "{early:?}");
    shop.close().await;
}
