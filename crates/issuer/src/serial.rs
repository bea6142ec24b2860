//! The serial consumer: takes what is ready, issues it as one set, acknowledges after the commit.
//!
//! Only a data fault is a message's fault. Anything else pauses the issuer: the channel is closed, so that
//! everything unacknowledged goes back, and consumed again once the store answers. Nothing is acknowledged
//! that is not done, and nothing becomes a dead letter because the database was away.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tessera_broker::{Broker, BrokerError, Consumer, Delivery};
use tessera_faults::{At, Break, broken, point};
use tessera_model::issue::SET_MAX;
use tessera_store::{Entropy, SchemaState, Store};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::copies::{OLDER, Seen};
use crate::issue::Issue;
use crate::rounds::Mint;

mod alike;
mod handle;

use handle::Hand;

/// Deliveries in flight: one set in hand and one gathering. What is in flight when an issuer dies comes back
/// marked, and each order of it that is not done is tried alone.
const PREFETCH: u16 = 512;

/// The wait before the first probe of a pause; it doubles up to [`PROBE_MAX`]: 0.1 0.2 0.4 0.8 1.6 3.2 5 5 … s.
const PROBE_MIN: Duration = Duration::from_millis(100);
const PROBE_MAX: Duration = Duration::from_secs(5);

/// How often an issuer that has nothing to do looks at its store: a standby has to know what the active one has done.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long a run of alike failures keeps the issuer from the next set, so that a person can look.
const ALIKE_PAUSE: Duration = Duration::from_secs(10);

/// Where the issuer notes the set in hand, so that a successor knows what may have killed it.
///
/// It has to outlive the process, not the machine: no sync is needed.
pub trait SetNote: Send + Sync + 'static {
    /// The orders of the set in hand; none when it is done.
    fn write(&mut self, orders: &[tessera_model::ids::OrderId]);
    /// What the issuer has seen of its store.
    fn keep(&mut self, seen: &Seen);
    /// What the issuers whose notes are kept in one place have seen: this one, its predecessors, and those beside it.
    fn kept(&mut self) -> Vec<Seen>;
    /// The orders that a predecessor had in hand when it ended.
    fn read(&mut self) -> Vec<tessera_model::ids::OrderId>;
}

/// One issuer of one queue.
pub struct Serial {
    store: Arc<dyn Store>,
    broker: Arc<dyn Broker>,
    partition: u16,
    hand: Hand,
    consuming: watch::Sender<bool>,
}

/// Why a session ended.
enum End {
    Stopped,
    /// The session is over; build another.
    Broker(BrokerError),
    /// The store cannot work, or a message is from a newer program.
    Pause(String),
    /// Different orders in a row failed alike.
    Alike,
}

impl Serial {
    /// An issuer of queue `partition`.
    pub fn new(
        store: Arc<dyn Store>,
        broker: Arc<dyn Broker>,
        entropy: Arc<Entropy>,
        mint: Mint,
        note: Box<dyn SetNote>,
        partition: u16,
    ) -> Self {
        let hand = Hand::new(Arc::clone(&store), Arc::clone(&broker), entropy, Issue::new(mint), note);
        Self { store, broker, partition, hand, consuming: watch::Sender::new(false) }
    }

    /// Whether it has its queue now: not before it is registered, nor while it is paused.
    pub fn consuming(&self) -> watch::Receiver<bool> {
        self.consuming.subscribe()
    }

    /// Issues until `stop`; finishes the set in hand. Sets `ready` once its consumer was registered.
    pub async fn run(mut self, ready: watch::Sender<bool>, stop: CancellationToken) {
        let mut wait = PROBE_MIN;
        while !stop.is_cancelled() {
            match self.session(&ready, &stop, &mut wait).await {
                End::Stopped => break,
                End::Broker(error) => {
                    tracing::warn!(%error, queue = self.partition, "the issuer lost its queue");
                    pause(&mut wait, &stop).await;
                }
                End::Pause(reason) => {
                    tracing::warn!(reason, queue = self.partition, "the issuer is paused");
                    self.probe(&mut wait, &stop).await;
                }
                End::Alike => {
                    tracing::error!(
                        queue = self.partition,
                        "orders in a row failed alike: the issuer is paused"
                    );
                    tokio::select! { () = stop.cancelled() => {}, () = tokio::time::sleep(ALIKE_PAUSE) => {} }
                }
            }
        }
        self.hand.done();
    }

    async fn session(
        &mut self,
        ready: &watch::Sender<bool>,
        stop: &CancellationToken,
        wait: &mut Duration,
    ) -> End {
        match self.hand.look().await {
            Ok(true) => {}
            Ok(false) => return End::Pause(OLDER.to_owned()),
            // A store that is away is noticed by the next set; but nothing is issued from one that was never looked at.
            Err(_) if self.hand.has_looked() => {}
            Err(error) => return End::Pause(error.to_string()),
        }
        let registered = tokio::select! {
            () = stop.cancelled() => return End::Stopped,
            registered = self.register() => registered,
        };
        let mut consumer = match registered {
            Ok(consumer) => consumer,
            Err(error) => return End::Broker(error),
        };
        ready.send_replace(true);
        self.consuming.send_replace(true);
        let end = self.consume(&mut *consumer, stop, wait).await;
        // Closing the channel, not cancelling the consumer: a cancelled one keeps what it has not acknowledged.
        consumer.close().await;
        self.consuming.send_replace(false);
        end
    }

    /// The issuer declares what it consumes: whoever publishes waits for that.
    async fn register(&self) -> Result<Box<dyn Consumer>, BrokerError> {
        self.broker.declare().await?;
        self.broker.consume(self.partition, PREFETCH).await
    }

    async fn consume(
        &mut self,
        consumer: &mut dyn Consumer,
        stop: &CancellationToken,
        wait: &mut Duration,
    ) -> End {
        loop {
            let set = match self.next_set(consumer, stop).await {
                Ok(set) => set,
                Err(end) => return end,
            };
            let Some(last) = set.last().map(|d| d.tag) else { continue };
            if broken(Break::AcknowledgeBeforeCommit)
                && let Err(error) = consumer.acknowledge(last).await
            {
                return End::Broker(error);
            }
            let alike = match self.hand.take(&set).await {
                Ok(alike) => alike,
                Err(reason) => return End::Pause(reason),
            };
            *wait = PROBE_MIN;
            if let Err(error) = acknowledge(consumer, last).await {
                return End::Broker(error);
            }
            if alike {
                return End::Alike;
            }
        }
    }

    /// The next set. Looks at the store while there is none.
    async fn next_set(
        &mut self,
        consumer: &mut dyn Consumer,
        stop: &CancellationToken,
    ) -> Result<Vec<Delivery>, End> {
        let mut next = pin!(consumer.next_set(SET_MAX));
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Err(End::Stopped),
                set = &mut next => return set.map_err(End::Broker),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            let look = tokio::select! {
                () = stop.cancelled() => return Err(End::Stopped),
                look = self.hand.look() => look,
            };
            // A store that is away is noticed by the next set.
            if matches!(look, Ok(false)) {
                return Err(End::Pause(OLDER.to_owned()));
            }
        }
    }

    /// Waits until the store answers with the right schema.
    async fn probe(&self, wait: &mut Duration, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            pause(wait, stop).await;
            if self.store.ping().await.is_ok()
                && matches!(self.store.schema().await, Ok(SchemaState::Current))
            {
                return;
            }
        }
    }
}

/// Acknowledges what is done: a fault point on either side.
async fn acknowledge(consumer: &mut dyn Consumer, last: u64) -> Result<(), BrokerError> {
    if point("issue", At::BeforeAcknowledge) {
        return Err(BrokerError::SessionLost);
    }
    if !broken(Break::AcknowledgeBeforeCommit) {
        consumer.acknowledge(last).await?;
    }
    match point("issue", At::AfterAcknowledge) {
        true => Err(BrokerError::SessionLost),
        false => Ok(()),
    }
}

async fn pause(wait: &mut Duration, stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(*wait) => {}
    }
    *wait = (*wait * 2).min(PROBE_MAX);
}
