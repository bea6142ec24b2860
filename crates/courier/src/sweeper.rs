//! The sweeper: finds paid orders that nobody was told of, and heads of waitlists that stock can fill.

use std::sync::Arc;
use std::time::Duration;

use tessera_broker::{Broker, BrokerError};
use tessera_faults::{Break, broken, sweeper_rests};
use tessera_model::ids::{OrderId, ProductId};
use tessera_store::{Result, Store, run_alone};

use crate::Publisher;

/// The bound of a sweeper that a test keeps from helping.
const AN_HOUR: Duration = Duration::from_hours(1);

/// The most orders published again in one round.
const ROUND_MAX: i64 = 1_000;

/// How long an order has been paid before it counts as unheard.
///
/// While the issue queue holds messages the bound doubles, up to a minute: 3 6 12 24 48 60 60 … s. An empty
/// queue resets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound(Duration);

impl Bound {
    const MIN: Duration = Duration::from_secs(3);
    const MAX: Duration = Duration::from_mins(1);

    /// The bound after a look at the queue.
    #[must_use]
    pub fn after(self, queue_holds_messages: bool) -> Self {
        match queue_holds_messages {
            true => Self((self.0 * 2).min(Self::MAX)),
            false => Self::default(),
        }
    }

    /// The bound itself.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl Default for Bound {
    fn default() -> Self {
        Self(Self::MIN)
    }
}

/// A reconciler without input: each [`Sweeper::round`] looks at what is, and does what is missing.
pub struct Sweeper {
    store: Arc<dyn Store>,
    broker: Arc<dyn Broker>,
    publisher: Publisher,
    partitions: u16,
    bound: Bound,
}

impl Sweeper {
    /// A sweeper that publishes through `publisher`.
    pub fn new(
        store: Arc<dyn Store>,
        broker: Arc<dyn Broker>,
        publisher: Publisher,
        partitions: u16,
    ) -> Self {
        Self { store, broker, publisher, partitions, bound: Bound::default() }
    }

    /// Publishes again what was unheard for longer than the bound; returns how many.
    ///
    /// # Errors
    /// The store's; nothing was published then.
    pub async fn round(&mut self) -> Result<usize> {
        // A broker that is away takes nothing: marking orders as told would only wear the database.
        if broken(Break::SweeperOff) {
            return Ok(0);
        }
        let Some(waiting) = self.queues_hold_messages().await else { return Ok(0) };
        self.bound = if sweeper_rests() { Bound(AN_HOUR) } else { self.bound.after(waiting) };
        let unheard = unheard(Arc::clone(&self.store), self.bound).await?;
        if !unheard.is_empty() {
            tracing::info!(orders = unheard.len(), "publishing orders again that nobody was told of");
            self.publisher.orders_paid(&unheard);
        }
        Ok(unheard.len())
    }

    /// Whether any queue holds messages; none if the broker cannot be asked. A queue that is not there holds none.
    async fn queues_hold_messages(&self) -> Option<bool> {
        let mut waiting = false;
        for partition in 0..self.partitions {
            match self.broker.depth(partition).await {
                Ok(depth) => waiting |= depth > 0,
                Err(BrokerError::NoQueue(_)) => {}
                Err(_) => return None,
            }
        }
        Some(waiting)
    }
}

async fn unheard(store: Arc<dyn Store>, bound: Bound) -> Result<Vec<(OrderId, ProductId)>> {
    let found = run_alone({
        let store = Arc::clone(&store);
        async move {
            let mut tx = store.snapshot().await?;
            let before = tx.now().minus(bound.duration());
            Ok((tx.orders_unheard(before, ROUND_MAX).await?, tx.waitlists_fillable(before, ROUND_MAX).await?))
        }
    })
    .await?;
    let (paid, heads) = found;
    if paid.is_empty() && heads.is_empty() {
        return Ok(vec![]);
    }
    run_alone(async move {
        let mut tx = store.begin().await?;
        let ids = |orders: &[(OrderId, ProductId)]| orders.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        tx.orders_told(&ids(&paid)).await?;
        tx.waitlists_told(&ids(&heads)).await?;
        tx.commit().await?;
        Ok(paid.into_iter().chain(heads).collect())
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_doubles_while_messages_wait_and_falls_back_at_once() {
        let mut series = vec![];
        let mut bound = Bound::default();
        for _ in 0..6 {
            series.push(bound.duration().as_secs());
            bound = bound.after(true);
        }
        assert_eq!(series, [3, 6, 12, 24, 48, 60]);
        assert_eq!(bound.after(false), Bound::default());
    }
}
