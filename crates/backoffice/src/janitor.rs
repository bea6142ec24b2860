//! Tidying up after what died: imports that were killed, requests that are old.

use std::sync::Arc;
use std::time::Duration;

use tessera_model::ids::BatchId;
use tessera_orders::place::REQUEST_KEPT;
use tessera_store::{Entropy, Result, Store, run_alone};

use crate::import::{LEASE, LEASE_LASTS};

/// Codes removed in one transaction, so that the writer is never held for long.
const DISCARD_MAX: i64 = 2_000;

/// Requests forgotten in one round.
const PURGE_MAX: i64 = 10_000;

/// Removes batches whose import died: those still loading while nobody holds the import's lease.
///
/// Returns how many were removed.
///
/// # Errors
/// The store's; what was not removed is found again.
pub async fn discard_dead_imports(store: &Arc<dyn Store>, entropy: &Entropy) -> Result<usize> {
    let holder = entropy.bytes();
    let Some(batches) = claim(store, holder).await? else { return Ok(0) };
    let count = batches.len();
    for batch in batches {
        discard(store, batch, Some(holder)).await?;
    }
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        tx.lease_release(LEASE, holder).await?;
        tx.commit().await
    })
    .await?;
    Ok(count)
}

/// Dead batches, under the import's lease; none when there is nothing to do or an import is alive.
async fn claim(store: &Arc<dyn Store>, holder: [u8; 16]) -> Result<Option<Vec<BatchId>>> {
    let reader = Arc::clone(store);
    let idle = run_alone(async move {
        let mut tx = reader.snapshot().await?;
        Ok(tx.batches_loading().await?.is_empty() || tx.lease_read(LEASE).await?.is_some())
    })
    .await?;
    if idle {
        return Ok(None);
    }
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let until = tx.now().plus(LEASE_LASTS);
        let lease = tx.lease_take(LEASE, holder, "removing an import that died", until).await?;
        let batches = tx.batches_loading().await?;
        tx.commit().await?;
        Ok((lease.holder == holder).then_some(batches))
    })
    .await
}

/// Removes a loading batch bit by bit, renewing the lease of `holder` as it goes.
pub(crate) async fn discard(store: &Arc<dyn Store>, batch: BatchId, holder: Option<[u8; 16]>) -> Result<()> {
    loop {
        let store = Arc::clone(store);
        let gone = run_alone(async move {
            let mut tx = store.begin().await?;
            if let Some(holder) = holder {
                let until = tx.now().plus(LEASE_LASTS);
                tx.lease_take(LEASE, holder, "removing an import that died", until).await?;
            }
            let gone = tx.batches_discard(batch, DISCARD_MAX).await?;
            tx.commit().await?;
            Ok(gone)
        })
        .await?;
        if gone {
            return Ok(());
        }
        // Whoever waits for the writer goes first.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Forgets requests older than they are kept; returns how many.
///
/// # Errors
/// The store's.
pub async fn purge_requests(store: &Arc<dyn Store>) -> Result<u64> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let stale = tx.now().minus(REQUEST_KEPT);
        let purged = tx.requests_purge(stale, PURGE_MAX).await?;
        tx.commit().await?;
        Ok(purged)
    })
    .await
}
