//! A lease on a duty that one process does at a time: whoever holds it works, the others stand by.
//!
//! It saves work, not correctness: every step looks again under its own locks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tessera_store::operators::Lease;
use tessera_store::{Entropy, Result, Store, run_alone};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// How long a dead holder's lease keeps the others waiting.
const LASTS: Duration = Duration::from_secs(2);

/// How often it is renewed, or asked for.
const RENEW_EVERY: Duration = Duration::from_millis(500);

/// One process's claim on a duty.
#[derive(Clone)]
pub(super) struct Duty {
    store: Arc<dyn Store>,
    name: &'static str,
    holder: [u8; 16],
}

impl Duty {
    pub(super) fn new(store: &Arc<dyn Store>, entropy: &Entropy, name: &'static str) -> Self {
        Self { store: Arc::clone(store), name, holder: entropy.bytes() }
    }

    /// Holds the duty whenever it is free, until `stop`, and tells whether it does.
    pub(super) async fn hold(self, held: watch::Sender<bool>, stop: CancellationToken) {
        // Not held longer than the store was told, by this process's own clock.
        let mut until: Option<Instant> = None;
        while !stop.is_cancelled() {
            let asked = Instant::now();
            match self.take().await {
                Ok(lease) if lease.holder == self.holder => until = asked.checked_add(LASTS),
                Ok(_) => until = None,
                Err(error) => tracing::debug!(%error, duty = self.name, "the lease could not be renewed"),
            }
            let holds = until.is_some_and(|until| Instant::now() < until);
            if held.send_replace(holds) != holds {
                tracing::info!(duty = self.name, holds, "a duty changed hands");
            }
            tokio::select! { () = stop.cancelled() => {}, () = tokio::time::sleep(RENEW_EVERY) => {} }
        }
        held.send_replace(false);
        if let Err(error) = self.release().await {
            tracing::debug!(%error, duty = self.name, "the lease runs out by itself");
        }
    }

    /// Takes a duty that no other process may have meanwhile; waits for a dead one's lease to run out.
    pub(super) async fn take_alone(&self, remedy: &str) -> std::result::Result<(), Failure> {
        let begun = Instant::now();
        while self.take().await?.holder != self.holder {
            if begun.elapsed() > LASTS + RENEW_EVERY {
                return Err(Failure::needs("another process serves this database", remedy));
            }
            tokio::time::sleep(RENEW_EVERY).await;
        }
        Ok(())
    }

    async fn take(&self) -> Result<Lease> {
        let Self { store, name, holder } = self.clone();
        run_alone(async move {
            let mut tx = store.begin().await?;
            let until = tx.now().plus(LASTS);
            let lease = tx.lease_take(name, holder, name, until).await?;
            tx.commit().await?;
            Ok(lease)
        })
        .await
    }

    async fn release(&self) -> Result<()> {
        let Self { store, name, holder } = self.clone();
        run_alone(async move {
            let mut tx = store.begin().await?;
            tx.lease_release(name, holder).await?;
            tx.commit().await
        })
        .await
    }
}
