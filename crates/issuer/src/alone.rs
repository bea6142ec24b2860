//! Lone tries: an order whose message may have killed a process is tried by itself, at most three times.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tessera_model::ids::OrderId;
use tessera_store::{Result, Store, run_alone};

/// Lone tries without an outcome before an order becomes a dead letter, untried.
pub(crate) const ATTEMPTS_MAX: i64 = 3;

/// Which of these orders still have something to be done: the rest need no lone try.
pub(crate) async fn pending(store: &Arc<dyn Store>, ids: Vec<OrderId>) -> Result<HashSet<OrderId>> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        let orders = tx.orders_read(&ids).await?;
        Ok(orders.into_iter().filter(|o| !o.state.status().is_final()).map(|o| o.id).collect())
    })
    .await
}

/// How long a second and a third lone try wait, before they are committed: a process that something else kills again
/// and again, whatever it does, does not live that long, and nothing is laid to the order.
const RESTS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// Commits that an order is about to be tried alone; returns which try it is.
pub(crate) async fn begin(store: &Arc<dyn Store>, id: OrderId) -> Result<i64> {
    let next = raise(store, id, |count| count <= 1).await?;
    if next <= 1 {
        return Ok(next);
    }
    // One more try than there may be is none: it need not wait.
    if let Some(rest) = usize::try_from(next - 2).ok().and_then(|nth| RESTS.get(nth)) {
        tokio::time::sleep(*rest).await;
    }
    raise(store, id, |_| true).await
}

/// Which lone try of an order is the next one; counts it if it is to be kept.
async fn raise(store: &Arc<dyn Store>, id: OrderId, keeps: fn(i64) -> bool) -> Result<i64> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let counts: HashMap<OrderId, i64> = tx.attempts_raise(&[id]).await?.into_iter().collect();
        let count = counts.get(&id).copied().unwrap_or(1);
        if keeps(count) {
            tx.commit().await?;
        }
        Ok(count)
    })
    .await
}
