//! A whole shop in one process, and the check at its end that nothing is off or left over.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a shop that cannot be opened fails its test")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tessera_broker::Broker;
use tessera_courier::{Publisher, Sweeper};
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::keys::Keyring;
use tessera_orders::{Desk, Heard};
use tessera_store::{Clock, Entropy, Store};

use crate::{Database, Faults, FaultyStore, MemoryNote, MockClock, TestBroker};

mod buying;
mod home;
mod issuing;
mod looking;
mod stocking;

pub use home::Engine;
pub use issuing::Issuer;

use home::Home;

/// The longest a test waits for anything before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// A shop. Has to be closed: [`Shop::close`] fails the test if a balance is off or work is left over.
pub struct Shop {
    /// The time of every step.
    pub clock: Arc<MockClock>,
    /// Randomness, the same in every run.
    pub entropy: Arc<Entropy>,
    /// The shop's keys.
    pub keyring: Arc<Keyring>,
    /// The store, with [`Shop::faults`] in front of it.
    pub store: Arc<dyn Store>,
    /// What is to go wrong with the store.
    pub faults: Faults,
    /// The broker, with one queue.
    pub broker: Arc<TestBroker>,
    /// What publishes the orders that the desk made paid.
    pub publisher: Publisher,
    /// Where buyers' and providers' requests meet.
    pub desk: Desk,
    /// What the issuer notes, kept over its restarts.
    pub note: MemoryNote,
    sweeper: tokio::sync::Mutex<Sweeper>,
    references: AtomicU64,
    leftover_is_fine: AtomicBool,
    closed: AtomicBool,
    /// The last to be dropped, after what uses the rows in it.
    home: Home,
}

/// What a process has in memory, over the rows.
struct Process {
    store: Arc<dyn Store>,
    broker: Arc<TestBroker>,
    publisher: Publisher,
    desk: Desk,
    sweeper: Sweeper,
}

impl Process {
    async fn start(home: &Home, clock: &Arc<MockClock>, faults: &Faults, broker: Arc<TestBroker>) -> Self {
        let ticking: Arc<dyn Clock> = clock.clone();
        let store: Arc<dyn Store> =
            Arc::new(FaultyStore::new(home.store(Arc::clone(&ticking)).await, faults.clone()));
        let seam: Arc<dyn Broker> = broker.clone();
        let (publisher, publishing) = Publisher::new(Arc::clone(&seam), ticking, 1);
        tokio::spawn(publishing);
        let heard: Arc<dyn Heard> = Arc::new(PublishesPaid(publisher.clone()));
        let desk = Desk::new(&store, &heard);
        let sweeper = Sweeper::new(Arc::clone(&store), seam, publisher.clone(), 1);
        Self { store, broker, publisher, desk, sweeper }
    }
}

struct PublishesPaid(Publisher);

impl Heard for PublishesPaid {
    fn paid(&self, orders: Vec<(OrderId, ProductId)>) {
        self.0.orders_paid(&orders);
    }
}

impl Shop {
    /// Opens an empty shop on the engine that this run of the tests is about.
    pub async fn open() -> Self {
        Self::open_on(Engine::of_this_run()).await
    }

    /// Opens an empty shop on an engine, for a test that is about that one.
    pub async fn open_on(engine: Engine) -> Self {
        Self::found(engine, TestBroker::beside(engine)).await
    }

    /// Opens an empty shop on an engine with the broker in the process, whatever the engine.
    pub async fn open_embedded(engine: Engine) -> Self {
        Self::found(engine, TestBroker::in_process()).await
    }

    async fn found(engine: Engine, broker: TestBroker) -> Self {
        let home = Home::found(engine).await;
        let clock = Arc::new(MockClock::default());
        let entropy = Arc::new(Entropy::from_seed([7; 32]));
        let secrets = [entropy.bytes(), entropy.bytes(), entropy.bytes()];
        let keyring = Arc::new(Keyring::generate("test", secrets).expect("a keyring"));
        let faults = Faults::default();
        let process = Process::start(&home, &clock, &faults, Arc::new(broker)).await;
        process.store.migrate().await.unwrap();
        tessera_backoffice::keyring::learn(&process.store, &keyring).await.unwrap();
        let Process { store, broker, publisher, desk, sweeper } = process;
        Self {
            clock,
            entropy,
            keyring,
            store,
            faults,
            broker,
            publisher,
            desk,
            note: MemoryNote::default(),
            sweeper: tokio::sync::Mutex::new(sweeper),
            references: AtomicU64::new(0),
            leftover_is_fine: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            home,
        }
    }

    /// Ends the process and starts another over the same rows: what was in memory is gone, messages of a broker in
    /// the process too. Nothing may be under way.
    pub async fn crash(&mut self) {
        self.store.close().await;
        let broker = self.broker.after_crash();
        let process = Process::start(&self.home, &self.clock, &self.faults, broker).await;
        let Process { store, broker, publisher, desk, sweeper } = process;
        (self.store, self.broker, self.publisher, self.desk) = (store, broker, publisher, desk);
        self.sweeper = tokio::sync::Mutex::new(sweeper);
    }

    /// Paid orders without codes and batches still loading are no fault at the end of this test.
    pub fn leftover_is_fine(&self) {
        self.leftover_is_fine.store(true, Ordering::SeqCst);
    }

    /// The database's file, of a shop on SQLite.
    pub fn file(&self) -> PathBuf {
        self.home.file()
    }

    /// The database, of a shop on PostgreSQL.
    pub fn database(&self) -> &Database {
        self.home.database()
    }

    /// Ends the shop. Every balance has to hold and, unless [`Shop::leftover_is_fine`], no order to be paid
    /// and without codes, no batch to be loading.
    pub async fn close(self) {
        self.faults.clear();
        self.closed.store(true, Ordering::SeqCst);
        self.reconcile().await;
        if !self.leftover_is_fine.load(Ordering::SeqCst) {
            let left = "SELECT (SELECT count(*) FROM orders WHERE status = 'paid') \
                        + (SELECT count(*) FROM batch WHERE state = 'loading')";
            assert_eq!(self.number(left).await, 0, "paid orders or loading batches are left over");
        }
        self.store.close().await;
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let closed = self.closed.load(Ordering::SeqCst) || std::thread::panicking();
        assert!(closed, "the test did not close its shop");
    }
}
