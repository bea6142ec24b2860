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
mod operating;
mod restoring;
mod stocking;

pub use home::Engine;
pub use issuing::Issuer;
pub use restoring::Backup;

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

async fn open_store(home: &Home, clock: &Arc<MockClock>, faults: &Faults) -> Arc<dyn Store> {
    let ticking: Arc<dyn Clock> = clock.clone();
    Arc::new(FaultyStore::new(home.store(ticking).await, faults.clone()))
}

/// What a process has in memory, over its store.
struct Process {
    broker: Arc<TestBroker>,
    publisher: Publisher,
    desk: Desk,
    sweeper: tokio::sync::Mutex<Sweeper>,
}

impl Process {
    fn start(store: Arc<dyn Store>, clock: &Arc<MockClock>, broker: Arc<TestBroker>) -> Self {
        let (seam, ticking): (Arc<dyn Broker>, Arc<dyn Clock>) = (broker.clone(), clock.clone());
        let (publisher, publishing) = Publisher::new(Arc::clone(&seam), ticking, 1);
        tokio::spawn(publishing);
        let heard: Arc<dyn Heard> = Arc::new(PublishesPaid(publisher.clone()));
        let desk = Desk::new(&store, &heard);
        let sweeper = tokio::sync::Mutex::new(Sweeper::new(store, seam, publisher.clone(), 1));
        Self { broker, publisher, desk, sweeper }
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
        Self::at(Home::found(engine).await, TestBroker::beside(engine)).await
    }

    /// Opens an empty shop on an engine with the broker in the process, whatever the engine.
    pub async fn open_embedded(engine: Engine) -> Self {
        Self::at(Home::found(engine).await, TestBroker::in_process()).await
    }

    /// Opens an empty shop in a database that is there, such as one behind a proxy.
    pub async fn open_in(database: Database) -> Self {
        Self::at(Home::Database(database), TestBroker::beside(Engine::Postgres)).await
    }

    async fn at(home: Home, broker: TestBroker) -> Self {
        let (clock, faults) = (Arc::new(MockClock::default()), Faults::default());
        let entropy = Arc::new(Entropy::from_seed([7; 32]));
        let secrets = [entropy.bytes(), entropy.bytes(), entropy.bytes()];
        let keyring = Arc::new(Keyring::generate("test", secrets).expect("a keyring"));
        let store = open_store(&home, &clock, &faults).await;
        store.migrate().await.unwrap();
        let process = Process::start(Arc::clone(&store), &clock, Arc::new(broker));
        let shop = Self {
            clock,
            entropy,
            keyring,
            store,
            faults,
            broker: process.broker,
            publisher: process.publisher,
            desk: process.desk,
            note: MemoryNote::default(),
            sweeper: process.sweeper,
            references: AtomicU64::new(0),
            leftover_is_fine: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            home,
        };
        shop.learn_keys().await;
        shop
    }

    async fn learn_keys(&self) {
        tessera_backoffice::keyring::learn(&self.store, &self.keyring).await.unwrap();
    }

    /// Ends the process and starts another over the same rows: what was in memory is gone, messages of a broker in
    /// the process too. Nothing may be under way.
    pub async fn crash(&mut self) {
        self.store.close().await;
        self.store = open_store(&self.home, &self.clock, &self.faults).await;
        self.start_process();
    }

    /// Makes it an empty shop, as cheaply as the engine lets it: on a server the connections stay. Time goes on.
    pub async fn empty(&mut self) {
        self.faults.clear();
        if self.home.is_emptied().await {
            self.start_process();
        } else {
            self.store.close().await;
            self.home = Home::found(Engine::Sqlite).await;
            self.store = open_store(&self.home, &self.clock, &self.faults).await;
            self.store.migrate().await.unwrap();
            self.start_process();
        }
        self.note = MemoryNote::default();
        self.learn_keys().await;
    }

    fn start_process(&mut self) {
        let broker = self.broker.after_crash();
        let process = Process::start(Arc::clone(&self.store), &self.clock, broker);
        let Process { broker, publisher, desk, sweeper } = process;
        (self.broker, self.publisher, self.desk, self.sweeper) = (broker, publisher, desk, sweeper);
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
