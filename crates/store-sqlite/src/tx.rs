//! One transaction.

use async_trait::async_trait;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Sqlite, Transaction};
use tessera_model::time::Timestamp;
use tessera_store::generations::SUSPENDED;
use tessera_store::{Result, StoreError, StoreMeta, Tx};

use crate::error::{commit_fault, fault};
use crate::row::Fields;

/// A statement with its parameters bound.
pub(crate) type Statement = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// A transaction on the writer or on a reader.
pub(crate) struct SqliteTx {
    tx: Transaction<'static, Sqlite>,
    now: Timestamp,
}

impl SqliteTx {
    /// One that writes: its time is stored, so that no later one is given an earlier.
    pub(crate) async fn writing(mut tx: Transaction<'static, Sqlite>, now: Timestamp) -> Result<Self> {
        let sql = "UPDATE store SET clock = max(clock, ?1) WHERE id = 1 RETURNING clock";
        let row = sqlx::query(sql).bind(now.micros()).fetch_one(&mut *tx).await.map_err(fault)?;
        let now = Fields::of(&row, "store").time("clock")?;
        Ok(Self { tx, now })
    }

    /// One that reads.
    pub(crate) async fn reading(mut tx: Transaction<'static, Sqlite>, now: Timestamp) -> Result<Self> {
        let sql = "SELECT max(clock, ?1) AS clock FROM store WHERE id = 1";
        let row = sqlx::query(sql).bind(now.micros()).fetch_one(&mut *tx).await.map_err(fault)?;
        let now = Fields::of(&row, "store").time("clock")?;
        Ok(Self { tx, now })
    }

    pub(crate) fn time(&self) -> Timestamp {
        self.now
    }

    pub(crate) async fn execute(&mut self, statement: Statement) -> Result<u64> {
        statement.execute(&mut *self.tx).await.map(|done| done.rows_affected()).map_err(fault)
    }

    pub(crate) async fn rows(&mut self, statement: Statement) -> Result<Vec<SqliteRow>> {
        statement.fetch_all(&mut *self.tx).await.map_err(fault)
    }

    pub(crate) async fn one(&mut self, statement: Statement) -> Result<Option<SqliteRow>> {
        statement.fetch_optional(&mut *self.tx).await.map_err(fault)
    }

    /// Each row turned into a value.
    pub(crate) async fn read<T>(
        &mut self,
        statement: Statement,
        table: &'static str,
        value: impl Fn(&Fields<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.rows(statement).await?.iter().map(|row| value(&Fields::of(row, table))).collect()
    }
}

const META: &str = "SELECT generation, sets, partitions, suspended FROM store WHERE id = 1";
const PARTITIONS: &str = "UPDATE store SET partitions = ?1 WHERE id = 1";
const RAISE: &str = "\
    UPDATE store SET sets = sets + 1 WHERE id = 1 AND suspended = 0 RETURNING generation, sets, partitions, suspended";

#[async_trait]
impl Tx for SqliteTx {
    fn now(&self) -> Timestamp {
        self.now
    }

    async fn meta(&mut self) -> Result<StoreMeta> {
        let row = self.one(sqlx::query(META)).await?;
        meta(row.as_ref())
    }

    async fn partitions_put(&mut self, partitions: u16) -> Result<()> {
        self.execute(sqlx::query(PARTITIONS).bind(partitions)).await.map(drop)
    }

    async fn sets_raise(&mut self) -> Result<StoreMeta> {
        match self.one(sqlx::query(RAISE)).await? {
            Some(row) => meta(Some(&row)),
            None => Err(StoreError::Unavailable(SUSPENDED.to_owned())),
        }
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        self.tx.commit().await.map_err(commit_fault)
    }
}

fn meta(row: Option<&SqliteRow>) -> Result<StoreMeta> {
    let row = row.ok_or_else(|| StoreError::Schema("the store's own row is missing".into()))?;
    let fields = Fields::of(row, "store");
    Ok(StoreMeta {
        generation: fields.bytes("generation")?,
        sets: fields.get("sets")?,
        partitions: fields.integer("partitions")?,
        suspended: fields.get("suspended")?,
    })
}
