//! The time of transactions: the server's or a test's, never running backwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use sqlx::Row;
use sqlx::postgres::PgRow;
use tessera_model::time::Timestamp;
use tessera_store::{Clock, Result, StoreError};

use crate::error::fault;
use crate::pool::{Lease, State, run};

/// Whose clock transactions are given the time of.
///
/// A process is never given an earlier time than before, whatever its clock does. Across processes and restarts the
/// database remembers the time, but not of every transaction: that would make all of them wait for one row. With
/// [`Time::Database`] it is at most a second behind the latest transaction that wrote, or as long as issuing sets kept
/// the row locked (they raise it themselves), so that a server whose clock was set back by hours gives times at most
/// that much too early. With [`Time::Given`] it is exact.
pub enum Time {
    /// The server's clock.
    Database,
    /// A test's.
    Given(Arc<dyn Clock>),
}

/// How far the stored time may fall behind the server's clock, in microseconds.
const BEHIND_MAX_MICROS: i64 = 1_000_000;

/// Microseconds since 1970 as PostgreSQL computes them.
macro_rules! micros {
    ($time:literal) => {
        concat!("(extract(epoch from ", $time, ") * 1000000)::bigint")
    };
}

pub(crate) struct Ticker {
    time: Time,
    /// The latest time this process was given, in microseconds.
    latest: AtomicI64,
}

impl Ticker {
    pub(crate) fn new(time: Time) -> Self {
        Self { time, latest: AtomicI64::new(i64::MIN) }
    }

    /// Begins a transaction that writes. BEGIN and the time are one message. When the stored time has fallen behind, a
    /// second one first brings it up to date, in a transaction of its own that holds no lock over the step.
    pub(crate) async fn begin_writing(&self, lease: &mut Lease) -> Result<Timestamp> {
        let mut read = self.begin(lease, "BEGIN READ WRITE").await?;
        if read.now.saturating_sub(read.stored) > self.behind_max() {
            let raise = format!("ROLLBACK; {}; BEGIN READ WRITE", self.raise());
            read = self.begin(lease, &raise).await?;
        }
        Ok(self.given(&read))
    }

    /// Begins a transaction that reads one snapshot.
    pub(crate) async fn begin_reading(&self, lease: &mut Lease) -> Result<Timestamp> {
        let read = self.begin(lease, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        Ok(self.given(&read))
    }

    async fn begin(&self, lease: &mut Lease, begin: &str) -> Result<Read> {
        const STORED: &str = micros!("clock");
        let sql =
            format!("{begin}; SELECT {} AS now, {STORED} AS stored FROM store WHERE id = 1", self.micros());
        let rows = run(lease, sql, State::Open).await?;
        Read::of(rows.first())
    }

    /// The time to give: the latest of the clock's, the stored one, and what was given before.
    fn given(&self, read: &Read) -> Timestamp {
        let time = read.now.max(read.stored);
        Timestamp::from_micros(self.latest.fetch_max(time, Ordering::SeqCst).max(time))
    }

    fn micros(&self) -> String {
        match &self.time {
            Time::Database => micros!("clock_timestamp()").to_owned(),
            Time::Given(clock) => format!("({})::bigint", clock.now().micros()),
        }
    }

    /// Skipped when the row is locked: then it is being raised.
    fn raise(&self) -> String {
        let now = match &self.time {
            Time::Database => "clock_timestamp()".to_owned(),
            Time::Given(clock) => {
                format!("timestamptz 'epoch' + {} * interval '1 microsecond'", clock.now().micros())
            }
        };
        format!(
            "BEGIN; UPDATE store SET clock = {now} WHERE id = (\
                SELECT id FROM store WHERE id = 1 AND clock < {now} FOR NO KEY UPDATE SKIP LOCKED); COMMIT"
        )
    }

    fn behind_max(&self) -> i64 {
        match self.time {
            Time::Database => BEHIND_MAX_MICROS,
            Time::Given(_) => 0,
        }
    }
}

/// What the database says of the time, in microseconds.
struct Read {
    now: i64,
    stored: i64,
}

impl Read {
    fn of(row: Option<&PgRow>) -> Result<Self> {
        let row = row.ok_or_else(|| StoreError::Schema("the store's own row is missing".into()))?;
        let micros = |column: &str| row.try_get(column).map_err(|e| fault(&e));
        Ok(Self { now: micros("now")?, stored: micros("stored")? })
    }
}
