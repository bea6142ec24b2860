//! The publisher: one task that publishes what was committed, with confirms, and drops what it cannot.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tessera_broker::{Broker, Message};
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
    /// Confirmed by the broker.
    pub published: AtomicU64,
    /// Left to the sweeper: no room, or not confirmed.
    pub dropped: AtomicU64,
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
    /// Starts the task. It ends when every handle is gone and what waits was tried.
    pub fn spawn(broker: Arc<dyn Broker>, clock: Arc<dyn Clock>, partitions: u16) -> Self {
        let (waiting, inbox) = mpsc::channel(WAITING_MAX);
        let counts = Arc::new(Counts::default());
        tokio::spawn(serve(broker, inbox, Arc::clone(&counts)));
        Self { waiting, counts, clock, partitions }
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
        if self.waiting.try_send(message(event, self.partitions)).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What was published and dropped so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

async fn serve(broker: Arc<dyn Broker>, mut inbox: mpsc::Receiver<Message>, counts: Arc<Counts>) {
    let mut set = Vec::with_capacity(FLIGHT_MAX);
    while inbox.recv_many(&mut set, FLIGHT_MAX).await > 0 {
        let outcomes = broker.publish(std::mem::take(&mut set)).await;
        let (mut published, mut dropped, mut first) = (0, 0, None);
        for outcome in outcomes {
            match outcome {
                Ok(()) => published += 1,
                Err(error) => {
                    dropped += 1;
                    first = first.or(Some(error));
                }
            }
        }
        counts.published.fetch_add(published, Ordering::Relaxed);
        counts.dropped.fetch_add(dropped, Ordering::Relaxed);
        if let Some(error) = first {
            tracing::warn!(%error, dropped, "messages were not published: the sweeper has them");
        }
    }
}
