//! Steps whose connection to PostgreSQL is taken away under way: whoever repeats one by the same ids gets it once.
//!
//! On PostgreSQL whatever the run is for.

use std::time::{Duration, Instant};

use sqlx::{Connection, PgConnection};
use tessera_testbed::{ANY, Database, Engine, Proxy, Scenario, Shop};

use deeds::Deed;

mod deeds;

/// More than any step has.
const OPERATIONS_MAX: u32 = 60;

/// A connection that is gone is made anew at once.
const DONE_AGAIN: Duration = Duration::from_secs(5);

fn backend_ended(deed: Deed) -> Scenario {
    let fault = match deed {
        Deed::Place => "PostgreSQL ends our connections at each operation of placing",
        Deed::Pay => "PostgreSQL ends our connections at each operation of paying",
        Deed::Issue => "PostgreSQL ends our connections at each operation of issuing",
        Deed::Expire => "PostgreSQL ends our connections at each operation of expiring",
        Deed::Cancel => "PostgreSQL ends our connections at each operation of cancelling",
        Deed::Import => "PostgreSQL ends our connections at each operation of an import",
    };
    Scenario { number: 31, fault, until: "it is done, once", bound: DONE_AGAIN }
}

fn reply_lost(deed: Deed) -> Scenario {
    let fault = match deed {
        Deed::Place => "the reply to the COMMIT of placing is lost",
        Deed::Pay => "the reply to the COMMIT of paying is lost",
        Deed::Issue => "the reply to the COMMIT of issuing is lost",
        Deed::Expire => "the reply to the COMMIT of expiring is lost",
        Deed::Cancel => "the reply to the COMMIT of cancelling is lost",
        Deed::Import => "the reply to each COMMIT of an import is lost",
    };
    Scenario { number: 32, fault, until: "it is done, once", bound: DONE_AGAIN }
}

/// A shop behind a proxy, and the slowest repetition so far.
struct Wire {
    shop: Shop,
    proxy: Proxy,
    server: String,
    slowest: Duration,
}

impl Wire {
    async fn open() -> Self {
        let server = tessera_testbed::servers::postgres_url();
        let (proxy, through) = Proxy::before(&server).await.unwrap();
        let shop = Shop::open_in(Database::create().await.behind(through)).await;
        shop.product("card", |_| ()).await;
        shop.stock("card", usize::try_from(OPERATIONS_MAX).unwrap()).await;
        Self { shop, proxy, server, slowest: Duration::ZERO }
    }

    /// Does a deed again and again, each time struck at a later operation of this name, until one is not struck.
    /// Returns how often it was.
    async fn strike_at_each(
        &mut self,
        deed: Deed,
        operation: &'static str,
        strike: impl AsyncFn(&Self),
    ) -> u32 {
        for n in 1..OPERATIONS_MAX {
            let made = deed.prepare(&self.shop).await;
            let hang = self.shop.faults.hang_at(n, operation);
            let (mut struck, began) = (false, Instant::now());
            let striking = async {
                hang.reached().await;
                strike(self).await;
                struck = true;
                hang.go_on();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                () = striking => {}
                () = made.until_done(&self.shop) => {}
            }
            let took = began.elapsed();
            self.shop.faults.clear();
            made.is_done_once(&self.shop).await;
            if !struck {
                return n - 1;
            }
            self.slowest = self.slowest.max(took);
        }
        panic!("{deed:?} has no end");
    }

    async fn close(self, scenario: &Scenario) {
        let Self { shop, slowest, .. } = self;
        shop.close().await;
        scenario.recovered(Engine::Postgres, slowest);
    }

    /// The server ends every connection of the shop; returns once all are gone.
    async fn end_backends(&self) {
        let mut operator = self.operator().await;
        let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1";
        sqlx::query(ended).bind(self.shop.database().name()).execute(&mut operator).await.unwrap();
        let left = "SELECT pid FROM pg_stat_activity WHERE datname = $1";
        let left = || sqlx::query(left).bind(self.shop.database().name());
        while left().fetch_optional(&mut operator).await.unwrap().is_some() {}
    }

    /// A connection past the proxy, to another database.
    async fn operator(&self) -> PgConnection {
        PgConnection::connect(&self.server).await.unwrap()
    }
}

/// Ends the connections before each operation of a deed.
async fn ended_at_each_operation(deed: Deed) {
    let mut wire = Wire::open().await;
    let struck = wire.strike_at_each(deed, ANY, Wire::end_backends).await;
    assert!(struck >= 3, "{deed:?} was struck {struck} times only");
    wire.close(&backend_ended(deed)).await;
}

/// Takes away the reply to each COMMIT of a deed.
async fn doubted_at_each_commit(deed: Deed) {
    let mut wire = Wire::open().await;
    let struck =
        wire.strike_at_each(deed, "commit", async |wire| drop(wire.proxy.drop_reply_to_commit())).await;
    assert!(struck >= 1, "{deed:?} was never in doubt");
    wire.close(&reply_lost(deed)).await;
}

#[tokio::test]
async fn an_order_whose_backend_ends_is_placed_once() {
    ended_at_each_operation(Deed::Place).await;
}

#[tokio::test]
async fn a_payment_whose_backend_ends_is_taken_once() {
    ended_at_each_operation(Deed::Pay).await;
}

#[tokio::test]
async fn codes_whose_backend_ends_are_issued_once() {
    ended_at_each_operation(Deed::Issue).await;
}

#[tokio::test]
async fn a_hold_whose_backend_ends_expires_once() {
    ended_at_each_operation(Deed::Expire).await;
}

#[tokio::test]
async fn a_cancellation_whose_backend_ends_is_made_once() {
    ended_at_each_operation(Deed::Cancel).await;
}

#[tokio::test]
async fn a_file_whose_backend_ends_is_imported_once() {
    ended_at_each_operation(Deed::Import).await;
}

#[tokio::test]
async fn an_order_whose_commit_is_in_doubt_is_placed_once() {
    doubted_at_each_commit(Deed::Place).await;
}

#[tokio::test]
async fn a_payment_whose_commit_is_in_doubt_is_taken_once() {
    doubted_at_each_commit(Deed::Pay).await;
}

#[tokio::test]
async fn codes_whose_commit_is_in_doubt_are_issued_once() {
    doubted_at_each_commit(Deed::Issue).await;
}

#[tokio::test]
async fn a_hold_whose_commit_is_in_doubt_expires_once() {
    doubted_at_each_commit(Deed::Expire).await;
}

#[tokio::test]
async fn a_cancellation_whose_commit_is_in_doubt_is_made_once() {
    doubted_at_each_commit(Deed::Cancel).await;
}

#[tokio::test]
async fn a_file_whose_commit_is_in_doubt_is_imported_once() {
    doubted_at_each_commit(Deed::Import).await;
}
