//! Connections in use and at rest.
//!
//! Not sqlx's pool, for three reasons. A transaction that is dropped while it begins would leave its connection inside
//! it for the next borrower. A connection that is silently dead would keep its place for ever, because what is asked of
//! it on its way back has no bound. And each way back costs two round trips, where the answer to COMMIT says as much.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::Connection;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use tessera_store::{Result, StoreError};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::connect::{ACQUIRE_TIMEOUT, PATIENCE, open};
use crate::error::{ends_connection, fault, full};

/// A connection that rested longer than this is asked whether it still lives.
const ASKED_AFTER: Duration = Duration::from_secs(1);

/// How long its answer may take.
const ASKED_FOR: Duration = Duration::from_secs(1);

/// How soon a server that has no place for a connection is asked again, unless one of ours comes to rest before.
const FULL_FOR: Duration = Duration::from_millis(200);

/// How long closing waits for what is under way, and then for each farewell.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(6);
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(1);

/// At most `count` connections, opened when they are needed.
pub(crate) struct Pool {
    options: PgConnectOptions,
    count: u32,
    permits: Arc<Semaphore>,
    idle: Arc<Idle>,
    /// Whether the server had no place for another connection when it was last asked for one.
    full: AtomicBool,
}

/// Connections at rest, the latest last; each with when it came to rest.
#[derive(Default)]
struct Idle {
    resting: Mutex<Vec<(PgConnection, Instant)>>,
    /// Told of each that comes to rest.
    rested: Notify,
}

impl Idle {
    fn with<T>(&self, work: impl FnOnce(&mut Vec<(PgConnection, Instant)>) -> T) -> T {
        // Nothing that runs under the lock panics half-way.
        work(&mut self.resting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take_all(&self) -> Vec<(PgConnection, Instant)> {
        self.with(std::mem::take)
    }
}

impl Pool {
    pub(crate) fn new(options: PgConnectOptions, count: u32) -> Self {
        let count = count.max(1);
        let permits = Arc::new(Semaphore::new(usize::try_from(count).unwrap_or(usize::MAX >> 4)));
        Self { options, count, permits, idle: Arc::default(), full: AtomicBool::new(false) }
    }

    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// A connection, at rest and outside every transaction.
    ///
    /// # Errors
    /// `Unavailable` when none is free in time, none can be opened, or the pool is closed.
    pub(crate) async fn lease(&self) -> Result<Lease> {
        let late = || match self.full.load(Ordering::Relaxed) {
            true => full(),
            false => StoreError::Unavailable("waited too long for a connection".to_owned()),
        };
        timeout(ACQUIRE_TIMEOUT, self.lease_at_last()).await.map_err(|_| late())?
    }

    async fn lease_at_last(&self) -> Result<Lease> {
        let closed = |_| StoreError::Unavailable("the store is closed".to_owned());
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(closed)?;
        let connection = loop {
            if let Some(connection) = self.living().await {
                break connection;
            }
            let opened = open(&self.options).await?;
            self.full.store(opened.is_none(), Ordering::Relaxed);
            if let Some(connection) = opened {
                break connection;
            }
            // Those that the server has given us go round.
            timeout(FULL_FOR, self.idle.rested.notified()).await.ok();
        };
        let (permits, idle) = (Arc::clone(&self.permits), Arc::clone(&self.idle));
        let home = Home { idle, permits, permit };
        Ok(Lease { held: Some((connection, home)), state: State::Rests })
    }

    /// The connection that rested the shortest, if it lives. One that does not takes all others with it: what ended it,
    /// a restart or a broken network, ended them too.
    async fn living(&self) -> Option<PgConnection> {
        let (mut connection, since) = self.idle.with(Vec::pop)?;
        if since.elapsed() < ASKED_AFTER {
            return Some(connection);
        }
        match timeout(ASKED_FOR, connection.ping()).await {
            Ok(Ok(())) => Some(connection),
            _ => {
                self.idle.take_all();
                None
            }
        }
    }

    /// Ends every connection, once what is under way is done or [`CLOSE_TIMEOUT`] is over.
    pub(crate) async fn close(&self) {
        let all = timeout(CLOSE_TIMEOUT, self.permits.acquire_many(self.count)).await;
        self.permits.close();
        drop(all);
        for (connection, _) in self.idle.take_all() {
            // The server ends a connection without a farewell as well.
            timeout(FAREWELL_TIMEOUT, connection.close()).await.ok();
        }
    }
}

/// Where a connection goes back to.
struct Home {
    idle: Arc<Idle>,
    permits: Arc<Semaphore>,
    permit: OwnedSemaphorePermit,
}

impl Home {
    fn take_back(self, connection: PgConnection) {
        if !self.permits.is_closed() {
            self.idle.with(|idle| idle.push((connection, Instant::now())));
            self.idle.rested.notify_one();
        }
        // Only now may another look for it.
        drop(self.permit);
    }
}

/// Where a connection stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// In no transaction.
    Rests,
    /// In a transaction, waiting for a statement.
    Open,
    /// A statement was sent and its answer not read to the end. Whoever finds it so closes it.
    Busy,
    /// It broke.
    Dead,
}

/// A connection in one hand. Dropped, it goes back if it rests, is rolled back first if it is in a transaction, and is
/// closed if a statement was cut off in it.
pub(crate) struct Lease {
    held: Option<(PgConnection, Home)>,
    state: State,
}

impl Lease {
    /// The connection, for one statement that [`Lease::ended`] is told of. A future dropped between the two leaves
    /// it busy.
    ///
    /// # Errors
    /// `Unavailable` when an earlier statement was cut off.
    pub(crate) fn start(&mut self) -> Result<&mut PgConnection> {
        let cut_off = || StoreError::Unavailable("an earlier statement got no answer".to_owned());
        if matches!(self.state, State::Busy | State::Dead) {
            return Err(cut_off());
        }
        self.state = State::Busy;
        self.held.as_mut().map(|(connection, _)| connection).ok_or_else(cut_off)
    }

    /// As [`Lease::start`], unless the transaction has failed.
    pub(crate) fn start_unless(&mut self, failed: Option<&StoreError>) -> Result<&mut PgConnection> {
        match failed {
            Some(error) => Err(error.clone()),
            None => self.start(),
        }
    }

    /// Takes a statement's outcome: `Err` when it took longer than the client waits.
    pub(crate) fn ended<T, Late>(
        &mut self,
        outcome: Result<Result<T, sqlx::Error>, Late>,
        then: State,
        sort: fn(&sqlx::Error) -> StoreError,
    ) -> Result<T> {
        let late = |_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into());
        let in_time = outcome.is_ok();
        let outcome = outcome.unwrap_or_else(late);
        match &outcome {
            Ok(_) => self.state = then,
            Err(error) if !ends_connection(error) => self.state = State::Open,
            Err(_) => {
                self.state = if in_time { State::Dead } else { State::Busy };
                self.forget_others();
            }
        }
        outcome.map_err(|error| sort(&error))
    }

    /// Whether the connection proved dead when it was used.
    pub(crate) fn is_dead(&self) -> bool {
        self.state == State::Dead
    }

    /// What ended or silenced one connection did so to those at rest.
    fn forget_others(&self) {
        if let Some((_, home)) = &self.held {
            home.idle.take_all();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some((connection, home)) = self.held.take() else { return };
        match (self.state, Handle::try_current()) {
            (State::Rests, _) => home.take_back(connection),
            (State::Open, Ok(runtime)) => drop(runtime.spawn(roll_back(connection, home))),
            // Closing the socket is what ends the transaction, at the latest when its statement ends.
            _ => drop(connection),
        }
    }
}

async fn roll_back(mut connection: PgConnection, home: Home) {
    let outcome = timeout(PATIENCE, sqlx::raw_sql("ROLLBACK").execute(&mut connection)).await;
    if matches!(outcome, Ok(Ok(_))) {
        home.take_back(connection);
    }
}

/// Runs statements without parameters; the rows of those that have any.
pub(crate) async fn run(lease: &mut Lease, sql: String, then: State) -> Result<Vec<sqlx::postgres::PgRow>> {
    let connection = lease.start()?;
    let outcome = timeout(PATIENCE, sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).fetch_all(connection)).await;
    lease.ended(outcome, then, fault)
}
