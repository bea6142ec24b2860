//! The storage seam on PostgreSQL: SQL and nothing else.
//!
//! Sets go to the server as arrays, one parameter a column, so that the number of statements does not grow with the
//! set. Transactions are READ COMMITTED: rows are locked first, lowest key first, and read in later statements. Its
//! twin on SQLite has the same files and functions in the same order; what differs says why.

mod batches;
mod clock;
mod connect;
mod coupons;
mod customers;
mod encode;
mod error;
mod generations;
mod history;
mod ledger;
mod letters;
mod operators;
mod orders;
mod payments;
mod pool;
mod products;
mod reconcile;
mod refunds;
mod repayments;
mod rounds;
mod row;
mod schema;
mod tx;
mod waitlists;

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use sqlx::Row;
use tessera_model::time::Timestamp;
use tessera_store::generations::Server;
use tessera_store::{Result, SchemaState, Store, Tx};

pub use clock::Time;

use clock::Ticker;
use error::fault;
use pool::{Lease, Pool, State};
use tx::PostgresTx;

/// A store in one PostgreSQL database, version 14 or newer.
pub struct Postgres {
    pool: Pool,
    ticker: Ticker,
    version: String,
    /// Whether it says which server it is.
    tells_server: AtomicBool,
}

impl Postgres {
    /// Connects to the database that `url` names, with at most `connections` at a time.
    ///
    /// # Errors
    /// `Unavailable` when the server is away, refuses the user, or is too old; `Schema` when there is no such database.
    pub async fn connect(url: &str, connections: u32, time: Time) -> Result<Self> {
        let pool = Pool::new(connect::options(url)?, connections);
        let mut lease = pool.lease().await?;
        let version = "SELECT current_setting('server_version')".to_owned();
        let rows = pool::run(&mut lease, version, State::Rests).await?;
        let version = rows.first().map(|row| row.try_get(0)).transpose().map_err(|e| fault(&e))?;
        Ok(Self {
            pool,
            ticker: Ticker::new(time),
            version: version.unwrap_or_default(),
            tells_server: AtomicBool::new(true),
        })
    }

    /// A transaction. When the connection it was to begin on proves dead, nothing was done: it begins on another.
    async fn begin_on_living(&self, writes: bool) -> Result<PostgresTx> {
        let mut lease = self.pool.lease().await?;
        let mut begun = self.begin_on(&mut lease, writes).await;
        if begun.is_err() && lease.is_dead() {
            // Its place is given back first: whoever has the others may wait for one as well.
            drop(lease);
            lease = self.pool.lease().await?;
            begun = self.begin_on(&mut lease, writes).await;
        }
        Ok(PostgresTx::new(lease, begun?, writes))
    }

    async fn begin_on(&self, lease: &mut Lease, writes: bool) -> Result<Timestamp> {
        match writes {
            true => self.ticker.begin_writing(lease).await,
            false => self.ticker.begin_reading(lease).await,
        }
    }
}

#[async_trait]
impl Store for Postgres {
    async fn begin(&self) -> Result<Box<dyn Tx>> {
        Ok(Box::new(self.begin_on_living(true).await?))
    }

    async fn snapshot(&self) -> Result<Box<dyn Tx>> {
        Ok(Box::new(self.begin_on_living(false).await?))
    }

    async fn ping(&self) -> Result<()> {
        // A standby can be read and nothing else: only a transaction that writes tells.
        self.begin().await.map(drop)
    }

    async fn schema(&self) -> Result<SchemaState> {
        schema::state(&mut self.pool.lease().await?).await
    }

    async fn migrate(&self) -> Result<()> {
        schema::migrate(self.pool.options()).await
    }

    async fn close(&self) {
        self.pool.close().await;
    }

    async fn server(&self) -> Result<Option<Server>> {
        if !self.tells_server.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut tx = self.begin_on_living(false).await?;
        let asked = tx.read(sqlx::query(generations::SERVER), "pg_control_system", generations::server).await;
        // A service may forbid to ask, or not be quite PostgreSQL: it is not asked again, and logs no more of it.
        self.tells_server.store(asked.is_ok(), Ordering::Relaxed);
        Ok(asked.ok().and_then(|mut servers| servers.pop()))
    }

    fn engine(&self) -> String {
        format!("PostgreSQL {}", self.version)
    }
}
