//! One transaction.

use async_trait::async_trait;
use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgRow};
use tessera_model::time::Timestamp;
use tessera_store::generations::SUSPENDED;
use tessera_store::{Result, StoreError, StoreMeta, Tx};
use tokio::time::timeout;

use crate::connect::{LONG_PATIENCE, PATIENCE, UNHURRIED};
use crate::encode::At;
use crate::error::{commit_fault, fault};
use crate::pool::{Lease, State, run};
use crate::row::Fields;

/// A statement with its parameters bound.
pub(crate) type Statement = sqlx::query::Query<'static, Postgres, PgArguments>;

/// A transaction that has begun.
pub(crate) struct PostgresTx {
    lease: Lease,
    now: Timestamp,
    /// Whether it may lock rows: a snapshot may not.
    writes: bool,
    /// How long a statement's answer may take.
    patience: std::time::Duration,
    /// The failure after which the server does nothing more in this transaction, and answers its COMMIT with a
    /// ROLLBACK that looks like success.
    failed: Option<StoreError>,
}

impl PostgresTx {
    pub(crate) fn new(lease: Lease, now: Timestamp, writes: bool) -> Self {
        Self { lease, now, writes, patience: PATIENCE, failed: None }
    }

    pub(crate) fn at(&self) -> At {
        At(self.now)
    }

    pub(crate) fn time(&self) -> Timestamp {
        self.now
    }

    /// How many rows it wrote.
    pub(crate) async fn execute(&mut self, statement: Statement) -> Result<u64> {
        let connection = self.lease.start_unless(self.failed.as_ref())?;
        let outcome = timeout(self.patience, statement.execute(connection)).await;
        let done = self.lease.ended(outcome, State::Open, fault);
        done.map(|done| done.rows_affected()).map_err(|error| self.fail(error))
    }

    pub(crate) async fn rows(&mut self, statement: Statement) -> Result<Vec<PgRow>> {
        let connection = self.lease.start_unless(self.failed.as_ref())?;
        let outcome = timeout(self.patience, statement.fetch_all(connection)).await;
        self.lease.ended(outcome, State::Open, fault).map_err(|error| self.fail(error))
    }

    pub(crate) async fn one(&mut self, statement: Statement) -> Result<Option<PgRow>> {
        Ok(self.rows(statement).await?.into_iter().next())
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

    /// Locks the rows a statement names. A snapshot locks nothing.
    pub(crate) async fn lock(&mut self, statement: Statement) -> Result<()> {
        match self.writes {
            true => self.execute(statement).await.map(drop),
            false => Ok(()),
        }
    }

    pub(crate) fn writes(&self) -> bool {
        self.writes
    }

    /// Lets the statements that follow read whole tables, and take minutes.
    pub(crate) async fn unhurried(&mut self) -> Result<()> {
        self.patience = LONG_PATIENCE;
        run(&mut self.lease, UNHURRIED.to_owned(), State::Open)
            .await
            .map(drop)
            .map_err(|error| self.fail(error))
    }

    fn fail(&mut self, error: StoreError) -> StoreError {
        self.failed.get_or_insert(error).clone()
    }
}

const META: &str = "SELECT generation, sets, partitions, suspended FROM store WHERE id = 1";
const PARTITIONS: &str = "UPDATE store SET partitions = $1 WHERE id = 1";
/// The row is written anyway, so its clock is brought up to date with it.
const RAISE: &str = "\
    UPDATE store SET sets = sets + 1, clock = greatest(clock, $1) WHERE id = 1 AND NOT suspended
    RETURNING generation, sets, partitions, suspended";

#[async_trait]
impl Tx for PostgresTx {
    fn now(&self) -> Timestamp {
        self.now
    }

    async fn meta(&mut self) -> Result<StoreMeta> {
        let row = self.one(sqlx::query(META)).await?;
        meta(row.as_ref())
    }

    async fn partitions_put(&mut self, partitions: u16) -> Result<()> {
        self.execute(sqlx::query(PARTITIONS).bind(i32::from(partitions))).await.map(drop)
    }

    async fn sets_raise(&mut self) -> Result<StoreMeta> {
        match self.one(sqlx::query(RAISE).bind(self.at())).await? {
            Some(row) => meta(Some(&row)),
            None => Err(StoreError::Unavailable(SUSPENDED.to_owned())),
        }
    }

    async fn commit(mut self: Box<Self>) -> Result<()> {
        let connection = self.lease.start_unless(self.failed.as_ref())?;
        let outcome = timeout(self.patience, sqlx::raw_sql("COMMIT").execute(connection)).await;
        self.lease.ended(outcome, State::Rests, commit_fault).map(drop)
    }
}

fn meta(row: Option<&PgRow>) -> Result<StoreMeta> {
    let row = row.ok_or_else(|| StoreError::Schema("the store's own row is missing".into()))?;
    let fields = Fields::of(row, "store");
    Ok(StoreMeta {
        generation: fields.bytes("generation")?,
        sets: fields.get("sets")?,
        partitions: fields.small("partitions")?,
        suspended: fields.get("suspended")?,
    })
}
