//! The storage seam on SQLite: SQL and nothing else.
//!
//! One file, one writer, any number of readers (WAL). Sets go to SQLite as one JSON parameter a statement, so
//! that the number of statements does not grow with the set. Differs from the PostgreSQL twin by necessity in
//! its locks: `BEGIN IMMEDIATE` is the only one, so `*_lock` operations just read.

mod batches;
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
mod products;
mod reconcile;
mod refunds;
mod repayments;
mod rounds;
mod row;
mod tx;
mod waitlists;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::Row;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqlitePool;
use tessera_store::{Clock, Result, SchemaState, Store, StoreError, Tx};

use error::fault;
use tx::SqliteTx;

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations/sqlite");

/// The oldest SQLite that keeps what it committed: earlier ones may lose it when the WAL is reset
/// (<https://www.sqlite.org/wal.html#walresetbug>).
const VERSION_MIN: (u32, u32, u32) = (3, 51, 3);

/// A store in one SQLite file.
pub struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
    clock: Arc<dyn Clock>,
    version: String,
}

impl Sqlite {
    /// Opens the file, creating it if need be, with one writer and `readers` readers.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be opened as it must be: WAL, full synchronisation, foreign keys,
    /// and a SQLite that is new enough.
    pub async fn open(file: &Path, readers: u32, clock: Arc<dyn Clock>) -> Result<Self> {
        Self::with(file, connect::readers_mapped(file, readers), clock).await
    }

    /// The same for a process that reads once and ends: it maps nothing of the file, so that its memory does not grow
    /// with the shop.
    ///
    /// # Errors
    /// Those of [`Sqlite::open`].
    pub async fn open_unmapped(file: &Path, readers: u32, clock: Arc<dyn Clock>) -> Result<Self> {
        Self::with(file, connect::readers(file, readers), clock).await
    }

    async fn with(file: &Path, readers: SqlitePool, clock: Arc<dyn Clock>) -> Result<Self> {
        let writer = connect::writer(file).await?;
        let version = checked_version(&writer).await?;
        Ok(Self { writer, readers, clock, version })
    }
}

impl Sqlite {
    /// A file without our migrations is new, or another program's.
    async fn schema_of_stranger(&self) -> Result<SchemaState> {
        let tables = "SELECT count(*) FROM sqlite_master";
        let tables: i64 =
            sqlx::query(tables).fetch_one(&self.writer).await.and_then(|r| r.try_get(0)).map_err(fault)?;
        match tables {
            0 => Ok(SchemaState::Empty),
            _ => {
                Err(StoreError::Schema("the file is another program's database: name one of its own".into()))
            }
        }
    }
}

async fn checked_version(pool: &SqlitePool) -> Result<String> {
    let row = sqlx::query("SELECT sqlite_version()").fetch_one(pool).await.map_err(fault)?;
    let version: String = row.try_get(0).map_err(fault)?;
    let mut parts = version.split('.').map(|p| p.parse::<u32>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    if (next(), next(), next()) < VERSION_MIN {
        return Err(StoreError::Unavailable(format!(
            "SQLite {version} may lose committed data: build with 3.51.3 or newer"
        )));
    }
    Ok(version)
}

#[async_trait]
impl Store for Sqlite {
    async fn begin(&self) -> Result<Box<dyn Tx>> {
        // IMMEDIATE: a deferred transaction that reads and then writes fails at once, whatever the timeout.
        let tx = self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(fault)?;
        Ok(Box::new(SqliteTx::writing(tx, self.clock.now()).await?))
    }

    async fn snapshot(&self) -> Result<Box<dyn Tx>> {
        let tx = self.readers.begin().await.map_err(fault)?;
        Ok(Box::new(SqliteTx::reading(tx, self.clock.now()).await?))
    }

    async fn ping(&self) -> Result<()> {
        // A file that can be read may be read-only, and what is full shows at the commit.
        self.begin().await?.commit().await
    }

    async fn schema(&self) -> Result<SchemaState> {
        let known = MIGRATOR.iter().map(|m| m.version).max().unwrap_or(0);
        let table = "SELECT count(*) FROM sqlite_master WHERE name = '_sqlx_migrations'";
        let there: i64 =
            sqlx::query(table).fetch_one(&self.writer).await.and_then(|r| r.try_get(0)).map_err(fault)?;
        if there == 0 {
            return self.schema_of_stranger().await;
        }
        let latest = "SELECT coalesce(max(version), 0) FROM _sqlx_migrations WHERE success";
        let version: i64 =
            sqlx::query(latest).fetch_one(&self.writer).await.and_then(|r| r.try_get(0)).map_err(fault)?;
        Ok(match version {
            0 => SchemaState::Empty,
            v if v < known => SchemaState::Behind,
            v if v > known => SchemaState::Ahead,
            _ => SchemaState::Current,
        })
    }

    async fn migrate(&self) -> Result<()> {
        MIGRATOR.run(&self.writer).await.map_err(|e| match e {
            sqlx::migrate::MigrateError::Execute(e) => fault(e),
            other => StoreError::Schema(other.to_string()),
        })
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    fn has_one_writer(&self) -> bool {
        true
    }

    fn engine(&self) -> String {
        format!("SQLite {}", self.version)
    }
}
