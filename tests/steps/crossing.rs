//! Several processes over one PostgreSQL database, each doing what it likes: no step waits in a circle, and the books
//! are balanced at the end. On SQLite there is one writer, so nothing crosses.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use sqlx::{Connection, Row};
use tessera_issuer::{Issue, Work};
use tessera_model::ids::{OrderId, ProductId};
use tessera_orders::expire::Expire;
use tessera_orders::pay::Incoming;
use tessera_orders::release::Cancellation;
use tessera_orders::{Desk, Heard};
use tessera_store::{Clock, Store, run_set};
use tessera_store_postgres::{Postgres, Time};
use tessera_testbed::{Engine, Shop};

/// Processes, each with a desk of its own; the first two issue as well.
const PROCESSES: u64 = 4;

/// What each of a process's actors does, one after another.
const ACTS: usize = 60;

/// Actors of a process.
const ACTORS: u64 = 4;

/// Connections of a process: one an actor, and those of the desk's own tasks.
const CONNECTIONS: u32 = 8;

const SKUS: [&str; 4] = ["one", "two", "three", "ahead"];

const CUSTOMERS: [&str; 3] = ["ann", "bob", "cid"];

struct Nobody;

impl Heard for Nobody {
    fn paid(&self, _: Vec<(OrderId, ProductId)>) {}
}

/// What all processes share.
struct Square {
    shop: Shop,
    orders: Mutex<Vec<OrderId>>,
    notices: Mutex<Vec<Incoming>>,
}

impl Square {
    async fn open() -> Self {
        let shop = Shop::open_on(Engine::Postgres).await;
        for sku in SKUS {
            shop.product(sku, |rules| {
                rules.backorders = sku == "ahead";
                rules.per_customer_limit = (sku == "two").then_some(40);
                rules.open_orders_per_customer = None;
            })
            .await;
            shop.stock(sku, 60).await;
        }
        Self { shop, orders: Mutex::default(), notices: Mutex::default() }
    }

    /// Some of the orders there are, in any order.
    fn some_orders(&self, rng: &mut StdRng, most: usize) -> Vec<OrderId> {
        let orders = self.orders.lock().unwrap();
        let Some(last) = orders.len().checked_sub(1) else { return vec![] };
        (0..rng.random_range(1..=most)).map(|_| orders[rng.random_range(0..=last)]).collect()
    }
}

/// One process: its own connections and desk.
struct Process {
    square: Arc<Square>,
    store: Arc<dyn Store>,
    desk: Desk,
    issues: bool,
}

impl Process {
    async fn start(square: &Arc<Square>, number: u64) -> Arc<Self> {
        let clock: Arc<dyn Clock> = square.shop.clock.clone();
        let url = square.shop.database().url();
        let store = Postgres::connect(&url, CONNECTIONS, Time::Given(clock)).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let nobody: Arc<dyn Heard> = Arc::new(Nobody);
        let desk = Desk::new(&store, &nobody);
        Arc::new(Self { square: Arc::clone(square), store, desk, issues: number < 2 })
    }

    /// A refusal is an outcome, and whatever fails ends the test.
    async fn act(&self, rng: &mut StdRng) {
        match rng.random_range(0..20) {
            0..6 => self.place(rng).await,
            6..12 => self.pay(rng).await,
            12 => self.pay_again(rng).await,
            13 => self.cancel(rng).await,
            14 | 15 => self.expire(rng).await,
            16 => self.import(rng).await,
            _ if self.issues => self.issue(rng).await,
            _ => self.pay(rng).await,
        }
    }

    /// Several orders at once, each of several lines in any order.
    async fn place(&self, rng: &mut StdRng) {
        let shop = &self.square.shop;
        let new = (0..rng.random_range(1..4)).map(|_| {
            let mut skus = SKUS;
            skus.shuffle(rng);
            let lines: Vec<_> =
                skus.iter().take(rng.random_range(1..=4)).map(|sku| (*sku, rng.random_range(1..3))).collect();
            shop.new_order(CUSTOMERS[rng.random_range(0..3)], &lines)
        });
        let placed = futures_util::future::join_all(new.collect::<Vec<_>>().into_iter().map(|new| {
            let id = new.id;
            async move { self.desk.place(new).await.map(|_| id) }
        }));
        for id in placed.await {
            self.square.orders.lock().unwrap().push(id.unwrap());
        }
    }

    /// Several payments at once, in time or late, some of orders that were refused.
    async fn pay(&self, rng: &mut StdRng) {
        let shop = &self.square.shop;
        let orders = self.square.some_orders(rng, 4);
        let notices: Vec<Incoming> = orders
            .iter()
            .map(|id| {
                let minor = 1_000 * rng.random_range(1..6);
                shop.notice("acme", &shop.reference(), &id.to_string(), minor, "CNY")
            })
            .collect();
        self.square.notices.lock().unwrap().extend(notices.iter().cloned());
        let paid = futures_util::future::join_all(notices.into_iter().map(|notice| self.desk.pay(notice)));
        for outcome in paid.await {
            outcome.unwrap();
        }
        for id in orders {
            self.desk.pay(shop.test_payment(id)).await.unwrap();
        }
    }

    /// A redelivered notice.
    async fn pay_again(&self, rng: &mut StdRng) {
        let known = self.square.notices.lock().unwrap().clone();
        if let Some(last) = known.len().checked_sub(1) {
            self.desk.pay(known[rng.random_range(0..=last)].clone()).await.unwrap();
        }
    }

    async fn cancel(&self, rng: &mut StdRng) {
        for order in self.square.some_orders(rng, 2) {
            self.desk.cancel(Cancellation { order, epoch: 0 }).await.unwrap();
        }
    }

    async fn expire(&self, rng: &mut StdRng) {
        self.square.shop.clock.advance(Duration::from_mins(rng.random_range(0..6)));
        let orders = self.square.some_orders(rng, 30);
        let expired = run_set(Arc::clone(&self.store), Arc::new(Expire), orders).await;
        assert!(expired.iter().all(Result::is_ok), "{expired:?}");
    }

    async fn import(&self, rng: &mut StdRng) {
        // Imports take turns by their lease, and a test's import does not wait for its turn.
        static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let _turn = TURN.lock().await;
        self.square.shop.stock(SKUS[rng.random_range(0..4)], rng.random_range(1..30)).await;
    }

    async fn issue(&self, rng: &mut StdRng) {
        let works: Vec<Work> = self.square.some_orders(rng, 40).into_iter().map(Work::Order).collect();
        let issued =
            run_set(Arc::clone(&self.store), Arc::new(Issue::new(self.square.shop.mint())), works).await;
        assert!(issued.iter().all(Result::is_ok), "{issued:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_cross_never_wait_in_a_circle() {
    let square = Arc::new(Square::open().await);
    let mut processes = vec![];
    for number in 0..PROCESSES {
        processes.push(Process::start(&square, number).await);
    }
    let mut actors = vec![];
    for (number, process) in (0..).zip(&processes) {
        for actor in 0..ACTORS {
            let (process, seed) = (Arc::clone(process), number * ACTORS + actor);
            actors.push(tokio::spawn(async move {
                let mut rng = StdRng::seed_from_u64(seed);
                for _ in 0..ACTS {
                    process.act(&mut rng).await;
                }
            }));
        }
    }
    for actor in actors {
        actor.await.unwrap();
    }
    for process in processes {
        process.store.close().await;
    }
    finish(Arc::into_inner(square).expect("every actor is done")).await;
}

/// Something happened, nothing waited in a circle, and the books are balanced.
async fn finish(square: Square) {
    let shop = square.shop;
    shop.leftover_is_fine();
    let issued = shop.number("SELECT count(*) FROM orders WHERE status = 'issued'").await;
    assert!(issued > 50, "{issued} orders were issued: hardly anything crossed");
    // A session's counts are there at the latest when it ends; those of the processes have ended.
    let mut connection = shop.database().connect().await;
    let counted = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    let deadlocks: i64 = sqlx::query(counted).fetch_one(&mut connection).await.unwrap().get(0);
    connection.close().await.unwrap();
    assert_eq!(deadlocks, 0);
    shop.close().await;
}
