//! Waiting for orders: requests sleep here until a wake-up, a change, or their time is over.
//!
//! The issuer sends one wake-up a set; the orders of it that somebody waits for are loaded in one query. A
//! lost wake-up costs one re-check: every period the versions of all orders waited for are read at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use serde::Deserialize;
use tessera_broker::Broker;
use tessera_model::ids::OrderId;
use tessera_model::keys::Keyring;
use tessera_store::{Result, SET_MAX, Store, run_alone};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::read::{OrderView, load_each};

/// How long a subscription that was lost is left alone.
const RESUBSCRIBE: Duration = Duration::from_secs(1);

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The order is final.
    Final,
    /// The order has another version than this.
    Not(i64),
}

impl Until {
    /// Whether an order is what was waited for.
    pub fn holds(self, view: &OrderView) -> bool {
        match self {
            Self::Final => view.is_final(),
            Self::Not(version) => view.order.version != version,
        }
    }
}

struct Waiter {
    ticket: u64,
    until: Until,
    answer: oneshot::Sender<Arc<OrderView>>,
}

/// All waiters of one order, and the version they have last been judged by.
#[derive(Default)]
struct Queue {
    version: i64,
    waiters: Vec<Waiter>,
}

/// Every request of the process that waits for an order.
pub struct Waiters {
    store: Arc<dyn Store>,
    keyring: Arc<Keyring>,
    queues: Mutex<HashMap<OrderId, Queue>>,
    tickets: AtomicU64,
    /// How many orders are waited for, as the metrics show it.
    waiting: Gauge,
}

/// A place among the waiters, given up when dropped.
pub struct Ticket {
    waiters: Arc<Waiters>,
    order: OrderId,
    number: u64,
    answer: oneshot::Receiver<Arc<OrderView>>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut queues = self.waiters.lock();
        if let Some(queue) = queues.get_mut(&self.order) {
            queue.waiters.retain(|w| w.ticket != self.number);
            if queue.waiters.is_empty() {
                queues.remove(&self.order);
                self.waiters.waiting.dec();
            }
        }
    }
}

impl Ticket {
    /// The order once it is what was waited for; none when `most` passes or the process stops first.
    pub async fn wait(mut self, most: Duration, stop: &CancellationToken) -> Option<Arc<OrderView>> {
        tokio::select! {
            answer = &mut self.answer => answer.ok(),
            () = tokio::time::sleep(most) => None,
            () = stop.cancelled() => None,
        }
    }
}

#[derive(Deserialize)]
struct WakeUp {
    order_ids: Vec<String>,
}

impl Waiters {
    /// Nobody waits yet.
    pub fn new(store: Arc<dyn Store>, keyring: Arc<Keyring>, waiting: Gauge) -> Arc<Self> {
        Arc::new(Self { store, keyring, queues: Mutex::default(), tickets: AtomicU64::new(0), waiting })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OrderId, Queue>> {
        // Nothing can panic while it is held but an allocation.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place. To miss nothing, take it before looking at the order.
    pub fn enter(self: &Arc<Self>, order: OrderId, until: Until) -> Ticket {
        let number = self.tickets.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        let waiter = Waiter { ticket: number, until, answer: sender };
        let mut queues = self.lock();
        if !queues.contains_key(&order) {
            self.waiting.inc();
        }
        queues.entry(order).or_default().waiters.push(waiter);
        drop(queues);
        Ticket { waiters: Arc::clone(self), order, number, answer }
    }

    /// Hears wake-ups and re-checks every `period` until `stop`.
    pub async fn run(self: Arc<Self>, broker: Arc<dyn Broker>, period: Duration, stop: CancellationToken) {
        let rechecks = Arc::clone(&self).recheck_every(period);
        let wakes = self.hear(broker);
        tokio::select! { () = stop.cancelled() => {}, () = rechecks => {}, () = wakes => {} }
    }

    async fn hear(self: Arc<Self>, broker: Arc<dyn Broker>) {
        loop {
            if let Ok(mut wakes) = broker.wakes().await {
                while let Some(body) = wakes.next().await {
                    if let Ok(wake) = serde_json::from_slice::<WakeUp>(&body) {
                        let ids = wake.order_ids.iter().filter_map(|id| OrderId::parse(id)).collect();
                        self.look(ids).await;
                    }
                }
            }
            tokio::time::sleep(RESUBSCRIBE).await;
        }
    }

    async fn recheck_every(self: Arc<Self>, period: Duration) {
        loop {
            tokio::time::sleep(period).await;
            let waited: HashMap<OrderId, i64> =
                self.lock().iter().map(|(id, queue)| (*id, queue.version)).collect();
            if waited.is_empty() {
                continue;
            }
            match self.versions(waited.keys().copied().collect()).await {
                Ok(versions) => {
                    let moved = versions.into_iter().filter(|(id, v)| waited.get(id) != Some(v));
                    self.look(moved.map(|(id, _)| id).collect()).await;
                }
                Err(error) => tracing::debug!(%error, "waiting orders could not be looked at"),
            }
        }
    }

    async fn versions(&self, ids: Vec<OrderId>) -> Result<Vec<(OrderId, i64)>> {
        let store = Arc::clone(&self.store);
        run_alone(async move { store.snapshot().await?.orders_versions(&ids).await }).await
    }

    /// Loads those of these orders that somebody waits for, and answers whom it suits.
    async fn look(&self, mut ids: Vec<OrderId>) {
        {
            let queues = self.lock();
            ids.retain(|id| queues.contains_key(id));
        }
        for ids in ids.chunks(SET_MAX) {
            let views = load_each(Arc::clone(&self.store), Arc::clone(&self.keyring), ids.to_vec()).await;
            let readable = views.into_iter().filter_map(|(id, view)| match view {
                Ok(view) => Some((id, view)),
                Err(error) => {
                    tracing::debug!(order.id = %id, %error, "a woken order could not be loaded");
                    None
                }
            });
            self.answer(readable.collect());
        }
    }

    fn answer(&self, views: HashMap<OrderId, Arc<OrderView>>) {
        let mut queues = self.lock();
        for (id, view) in views {
            let Some(queue) = queues.get_mut(&id) else { continue };
            queue.version = view.order.version;
            let (done, waiting) =
                std::mem::take(&mut queue.waiters).into_iter().partition(|w: &Waiter| w.until.holds(&view));
            queue.waiters = waiting;
            for waiter in done {
                // Whoever went away has nothing to be told.
                let _gone = waiter.answer.send(Arc::clone(&view));
            }
        }
    }
}
