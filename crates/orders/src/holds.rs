//! Looking for holds that ended, and expiring them, while the clock can be trusted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tessera_model::ids::OrderId;
use tessera_model::steady::{HELD_FOR, Steadiness, Steady};
use tessera_model::time::Timestamp;
use tessera_store::{Result, SET_MAX, SetFault, Store, run_alone, run_set};

use crate::expire::Expire;

/// What looks for holds that ended.
///
/// A clock that was set by more than 30 s suspends it, with an alert, until the new time has held for 15 minutes. Only
/// what is due by the clock as it is now expires: the store's time never goes back, so after a clock was set forward and
/// back again it stands still at the later one, by which every open order would be over.
pub struct Holds {
    store: Arc<dyn Store>,
    steady: Steady,
    jumps: Arc<AtomicU64>,
}

impl Holds {
    /// Those of this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, steady: Steady::default(), jumps: Arc::default() }
    }

    /// How often the clock was found to be set.
    pub fn jumps(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.jumps)
    }

    /// Expires one set of holds that ended; returns how many were, those that failed not counted.
    ///
    /// `clock` is the time as this process is told it, where that is the store's; none where the store has a clock of its
    /// own, whose times are looked at as it gives them. `counted` is what has passed since some instant by a clock that
    /// nobody sets.
    ///
    /// # Errors
    /// The store's.
    pub async fn expire(&mut self, clock: Option<Timestamp>, counted: Duration) -> Result<usize> {
        let (now, due) = self.due(clock).await?;
        if !self.is_steady(clock.unwrap_or(now), counted) {
            return Ok(0);
        }
        let mut expired = 0;
        for outcome in run_set(Arc::clone(&self.store), Arc::new(Expire), due).await {
            match outcome {
                Ok(_) => expired += 1,
                // One that cannot be expired must not stop the others, nor be tried in a tight loop.
                Err(SetFault::Data(detail)) => tracing::error!(detail, "an order's hold cannot be expired"),
                Err(SetFault::Store(error)) => return Err(error),
            }
        }
        Ok(expired)
    }

    /// The time, and whose holds ended by it.
    async fn due(&self, clock: Option<Timestamp>) -> Result<(Timestamp, Vec<OrderId>)> {
        let limit = i64::try_from(SET_MAX).unwrap_or(i64::MAX);
        let store = Arc::clone(&self.store);
        run_alone(async move {
            let mut tx = store.snapshot().await?;
            let now = clock.map_or(tx.now(), |clock| clock.min(tx.now()));
            Ok((now, tx.orders_due(now, limit).await?))
        })
        .await
    }

    fn is_steady(&mut self, clock: Timestamp, counted: Duration) -> bool {
        let found = self.steady.look(clock, counted);
        match found {
            Steadiness::Jumped(micros) => {
                self.jumps.fetch_add(1, Ordering::Relaxed);
                let (by_seconds, held_for_seconds) = (micros / 1_000_000, HELD_FOR.as_secs());
                tracing::warn!(
                    by_seconds,
                    held_for_seconds,
                    "the clock was set: no hold expires until the new time has held"
                );
            }
            Steadiness::Believed => tracing::info!("the clock has held since it was set: holds expire again"),
            Steadiness::Steady | Steadiness::Held => {}
        }
        found.is_steady()
    }
}
