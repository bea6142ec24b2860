//! The publisher: one task that publishes what was committed, with confirms, and drops what it cannot.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tessera_broker::{Broker, Message, PublishError};
use tessera_faults::{At, point};
use tessera_model::event::{Event, Fact};
use tessera_model::ids::{EventId, OrderId, ProductId};
use tessera_model::time::Timestamp;
use tessera_store::Clock;
use tokio::sync::mpsc;

use crate::message;

/// Events that wait to be published. What does not fit is left to the sweeper.
const WAITING_MAX: usize = 16_384;

/// The most messages in flight to the broker at once.
const FLIGHT_MAX: usize = 1_000;

/// What a publisher did, for metrics.
#[derive(Debug, Default)]
pub struct Counts {
    /// Handed over, whatever became of it; raised first.
    pub offered: AtomicU64,
    /// Confirmed by the broker.
    pub published: AtomicU64,
    /// Left to the sweeper: no room, or not confirmed.
    pub dropped: AtomicU64,
}

impl Counts {
    /// Whether everything that was handed over is published or dropped.
    pub fn none_in_hand(&self) -> bool {
        let done = self.published.load(Ordering::SeqCst) + self.dropped.load(Ordering::SeqCst);
        done >= self.offered.load(Ordering::SeqCst)
    }
}

/// A handle to the task. Never waits.
#[derive(Clone)]
pub struct Publisher {
    waiting: mpsc::Sender<Message>,
    counts: Arc<Counts>,
    clock: Arc<dyn Clock>,
    partitions: u16,
}

impl Publisher {
    /// A publisher, and its task for the caller to run. The task ends when every handle is gone and what waits was
    /// tried.
    pub fn new(
        broker: Arc<dyn Broker>,
        clock: Arc<dyn Clock>,
        partitions: u16,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (waiting, inbox) = mpsc::channel(WAITING_MAX);
        let counts = Arc::new(Counts::default());
        let task = serve(broker, inbox, Arc::clone(&counts));
        (Self { waiting, counts, clock, partitions }, task)
    }

    /// Says that these orders are paid, or should be tried again.
    pub fn orders_paid(&self, orders: &[(OrderId, ProductId)]) {
        let at = self.clock.now();
        for (order, product) in orders {
            let fact = Fact::OrderPaid(*order);
            self.publish(&Event { id: EventId::from(*order), fact, product: *product, at });
        }
    }

    /// Says that codes of a product were added.
    pub fn stock_added(&self, id: EventId, product: ProductId, at: Timestamp) {
        self.publish(&Event { id, fact: Fact::StockAdded(product), product, at });
    }

    fn publish(&self, event: &Event) {
        self.counts.offered.fetch_add(1, Ordering::Relaxed);
        if self.waiting.try_send(message(event, self.partitions)).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What was published and dropped so far.
    pub fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }
}

async fn serve(broker: Arc<dyn Broker>, mut inbox: mpsc::Receiver<Message>, counts: Arc<Counts>) {
    let mut set = Vec::with_capacity(FLIGHT_MAX);
    let mut failing = false;
    while inbox.recv_many(&mut set, FLIGHT_MAX).await > 0 {
        let outcomes = publish(&*broker, std::mem::take(&mut set)).await;
        let error = count(&outcomes, &counts);
        // Once when it begins and once when it is over, not once a set.
        match (error, failing) {
            (Some(error), false) => {
                tracing::warn!(%error, "messages were not published: the sweeper has them");
            }
            (None, true) => tracing::info!("messages are published again"),
            (Some(_), true) | (None, false) => {}
        }
        failing = error.is_some();
    }
}

/// Publishes a set: a fault point on either side.
async fn publish(broker: &dyn Broker, set: Vec<Message>) -> Vec<Result<(), PublishError>> {
    let count = set.len();
    if point("publish", At::BeforePublish) {
        return vec![Err(PublishError::Away); count];
    }
    let outcomes = broker.publish(set).await;
    match point("publish", At::AfterConfirm) {
        true => vec![Err(PublishError::Away); count],
        false => outcomes,
    }
}

/// Counts a set's outcomes; returns its first failure.
fn count(outcomes: &[Result<(), PublishError>], counts: &Counts) -> Option<PublishError> {
    let failures = outcomes.iter().filter_map(|outcome| outcome.err());
    let dropped = u64::try_from(failures.clone().count()).unwrap_or(u64::MAX);
    let all = u64::try_from(outcomes.len()).unwrap_or(u64::MAX);
    counts.published.fetch_add(all - dropped, Ordering::Relaxed);
    counts.dropped.fetch_add(dropped, Ordering::Relaxed);
    failures.into_iter().next()
}
