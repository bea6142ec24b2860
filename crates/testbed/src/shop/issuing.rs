//! What the issuer and the sweeper do.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a verb that a test did not expect to fail fails the test"
)]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tessera_broker::{Broker, Message};
use tessera_courier::{Counts, message};
use tessera_issuer::rounds::{Draw, DrawOutcome};
use tessera_issuer::{Issue, IssueOutcome, IssueResult, Mint, Serial, Work};
use tessera_model::event::{Event, Fact};
use tessera_model::ids::{BatchId, EventId, OrderId, ProductId};
use tessera_model::order::OrderStatus;
use tessera_store::{Clock, SetFault, run_set};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{PATIENCE, Shop};

/// How long a test pauses before it asks again for something that sends no signal.
const AGAIN: Duration = Duration::from_millis(1);

/// A serial issuer that runs.
pub struct Issuer {
    /// Whether it has its queue now.
    pub consuming: watch::Receiver<bool>,
    task: JoinHandle<()>,
    stop: CancellationToken,
}

impl Issuer {
    /// Stops it after the set in hand.
    pub async fn stop(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.task).await.unwrap().unwrap();
    }

    /// Ends it where it stands, as a killed process does. A transaction in hand runs in a task of its own.
    pub async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

impl Shop {
    /// What opening rounds and pools takes.
    pub fn mint(&self) -> Mint {
        Mint::new(&self.keyring, &self.entropy)
    }

    /// Runs the issue step over orders in one set; every one has an outcome.
    pub async fn issue(&self, orders: &[OrderId]) -> Vec<IssueOutcome> {
        let works = orders.iter().map(|id| Work::Order(*id)).collect();
        self.issue_set(works).await.into_iter().map(|result| result.unwrap().outcome).collect()
    }

    /// Runs the issue step over a set, whatever comes of it.
    pub async fn issue_set(&self, works: Vec<Work>) -> Vec<Result<IssueResult, SetFault>> {
        run_set(Arc::clone(&self.store), Arc::new(Issue::new(self.mint())), works).await
    }

    /// Runs the draw step over a round.
    pub async fn draw(&self, round: BatchId) -> DrawOutcome {
        let step = Arc::new(Draw::new(self.mint()));
        run_set(Arc::clone(&self.store), step, vec![round]).await.remove(0).unwrap()
    }

    /// Starts a serial issuer; returns once its consumer is registered.
    pub async fn start_issuer(&self) -> Issuer {
        let (issuer, mut ready) = self.start_waiting_issuer();
        ready.wait_for(|ready| *ready).await.unwrap();
        issuer
    }

    /// Starts a serial issuer that may not find its broker; also tells when its consumer is registered.
    pub fn start_waiting_issuer(&self) -> (Issuer, watch::Receiver<bool>) {
        let broker: Arc<dyn Broker> = self.broker.clone();
        let note = Box::new(self.note.clone());
        let entropy = Arc::clone(&self.entropy);
        let serial = Serial::new(Arc::clone(&self.store), broker, entropy, self.mint(), note, 0);
        let (stop, (told, ready)) = (CancellationToken::new(), watch::channel(false));
        let consuming = serial.consuming();
        let task = tokio::spawn(serial.run(told, stop.clone()));
        (Issuer { consuming, task, stop }, ready)
    }

    /// Publishes a message as it is.
    pub async fn publish(&self, message: Message) {
        self.broker.publish(vec![message]).await.into_iter().for_each(Result::unwrap);
    }

    /// Publishes that an order is paid.
    pub async fn publish_paid(&self, order: OrderId) {
        self.publish(self.paid_message(order).await).await;
    }

    /// The message that an order is paid.
    pub async fn paid_message(&self, order: OrderId) -> Message {
        let product = self.lines(order).await.iter().map(|line| line.product).min();
        let product = product.unwrap_or(ProductId::from_uuid(order.uuid()));
        let (id, fact, at) = (EventId::from(order), Fact::OrderPaid(order), self.clock.now());
        message(&Event { id, fact, product, at }, 1)
    }

    /// Publishes that codes of a product were added.
    pub async fn publish_stock(&self, product: ProductId) {
        let (id, at) = (EventId::new(self.clock.now(), self.entropy.bytes()), self.clock.now());
        self.publish(message(&Event { id, fact: Fact::StockAdded(product), product, at }, 1)).await;
    }

    /// Waits until the publisher has published or dropped `count` messages since the shop was opened.
    pub async fn until_published(&self, count: u64) {
        let done = |counts: &Counts| {
            counts.published.load(Ordering::SeqCst) + counts.dropped.load(Ordering::SeqCst) >= count
        };
        self.until_counted(done).await;
    }

    /// Waits until the publisher has nothing in hand.
    pub async fn until_all_published(&self) {
        self.until_counted(Counts::none_in_hand).await;
    }

    async fn until_counted(&self, done: impl Fn(&Counts) -> bool) {
        let counts = self.publisher.counts();
        let counted = async {
            while !done(&counts) {
                // It sends no signal, and a broker elsewhere needs the processor too.
                tokio::time::sleep(AGAIN).await;
            }
        };
        tokio::time::timeout(PATIENCE, counted).await.unwrap();
    }

    /// Throws away what is published and ready, nothing on its way left out; returns how many messages that was.
    pub async fn purge(&self) -> u64 {
        self.until_all_published().await;
        self.broker.purge().await
    }

    /// Runs one round of the sweeper and waits until what it found is published; returns how many.
    pub async fn sweep(&self) -> usize {
        let found = self.sweeper.lock().await.round().await.unwrap();
        self.until_all_published().await;
        found
    }

    /// Waits until orders have this status.
    pub async fn until(&self, orders: &[OrderId], status: OrderStatus) {
        self.until_true(async || self.statuses(orders).await.iter().all(|s| *s == status)).await;
    }

    /// Waits until something is true; looks again at each commit.
    pub async fn until_true(&self, is: impl AsyncFn() -> bool) {
        let mut commits = self.faults.commits();
        let reached = async {
            commits.borrow_and_update();
            while !is().await {
                commits.changed().await.unwrap();
                commits.borrow_and_update();
            }
        };
        tokio::time::timeout(PATIENCE, reached).await.expect("what was waited for did not come");
    }
}
