//! Lone tries: an order whose message may have killed a process is tried by itself, at most three times.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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

/// Commits that an order is about to be tried alone; returns which try it is.
pub(crate) async fn begin(store: &Arc<dyn Store>, id: OrderId) -> Result<i64> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let counts: HashMap<OrderId, i64> = tx.attempts_raise(&[id]).await?.into_iter().collect();
        tx.commit().await?;
        Ok(counts.get(&id).copied().unwrap_or(1))
    })
    .await
}
