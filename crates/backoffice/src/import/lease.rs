//! The import's lease: one import at a time, and a sign of life while it lasts.

use std::sync::Arc;
use std::time::Duration;

use tessera_store::{Result, Store, StoreError, run_alone};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{ImportError, LEASE, LEASE_LASTS, Progress, Request};
use crate::janitor;

/// How often one that waits looks again.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often the holder gives a sign of life, also while its source is slow.
const BEAT_EVERY: Duration = Duration::from_secs(5);

/// The lease, held. Its heart stops when it is dropped.
pub(super) struct Held {
    holder: [u8; 16],
    purpose: String,
    heart: JoinHandle<()>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.heart.abort();
    }
}

impl Held {
    pub(super) fn holder(&self) -> ([u8; 16], String) {
        (self.holder, self.purpose.clone())
    }

    /// Gives it up.
    pub(super) async fn release(self, store: &Arc<dyn Store>) -> Result<()> {
        self.heart.abort();
        let (store, holder) = (Arc::clone(store), self.holder);
        run_alone(async move {
            let mut tx = store.begin().await?;
            tx.lease_release(LEASE, holder).await?;
            tx.commit().await
        })
        .await
    }
}

/// Waits for the lease and takes it.
pub(super) async fn take(
    store: &Arc<dyn Store>,
    holder: [u8; 16],
    request: &Request,
    watch: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Held, ImportError> {
    let purpose = format!("import of {} for {}", request.source, request.sku);
    let began = Instant::now();
    loop {
        let other = match renew(store, holder, &purpose).await {
            // Its row is locked while a large batch is opened; who holds it can be read all the same.
            Err(StoreError::Unavailable(detail)) => {
                Some(held(store).await?.ok_or(StoreError::Unavailable(detail))?)
            }
            answer => answer?,
        };
        match other {
            None => break,
            Some(other) if request.patience.is_some_and(|most| began.elapsed() >= most) => {
                return Err(ImportError::Waits(other));
            }
            Some(other) => watch(Progress::Waiting { purpose: other }),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let heart = tokio::spawn(beat(Arc::clone(store), holder, purpose.clone()));
    Ok(Held { holder, purpose, heart })
}

/// Takes or renews the lease; returns what another holder does with it instead.
async fn renew(store: &Arc<dyn Store>, holder: [u8; 16], purpose: &str) -> Result<Option<String>> {
    let (store, purpose) = (Arc::clone(store), purpose.to_owned());
    run_alone(async move {
        let mut tx = store.begin().await?;
        let until = tx.now().plus(LEASE_LASTS);
        let lease = tx.lease_take(LEASE, holder, &purpose, until).await?;
        tx.commit().await?;
        Ok((lease.holder != holder).then_some(lease.purpose))
    })
    .await
}

/// What the holder of the lease does with it, if anybody holds it.
async fn held(store: &Arc<dyn Store>) -> Result<Option<String>> {
    let store = Arc::clone(store);
    let lease = run_alone(async move { store.snapshot().await?.lease_read(LEASE).await }).await?;
    Ok(lease.map(|lease| lease.purpose))
}

async fn beat(store: Arc<dyn Store>, holder: [u8; 16], purpose: String) {
    loop {
        tokio::time::sleep(BEAT_EVERY).await;
        // A beat that fails is followed by another; each chunk checks the lease in its own transaction.
        if let Err(error) = renew(&store, holder, &purpose).await {
            tracing::debug!(%error, "an import's sign of life was not written");
        }
    }
}

/// Removes what imports before this one left behind: under the lease, nothing that is loading is alive.
pub(super) async fn clear(store: &Arc<dyn Store>, held: &Held) -> Result<(), ImportError> {
    let reader = Arc::clone(store);
    let dead = run_alone(async move { reader.snapshot().await?.batches_loading().await }).await?;
    for batch in dead {
        janitor::discard(store, batch, Some(held.holder)).await?;
    }
    Ok(())
}
