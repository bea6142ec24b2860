//! Connections: how one is opened, what its session is set to, and how long anything may take.

use std::str::FromStr;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use tessera_store::{Result, StoreError};
use tokio::time::timeout;

use crate::error::{fault, is_full};

/// How long a step waits for a connection, all told.
pub(crate) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long opening a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);

/// How long the client waits for a statement's answer: longer than the server's own limit, so that it is reached
/// only when the server or the network says nothing at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(6);

/// The same for reconcile, migrations and the count that opens a batch; the server's limit is a little below.
pub(crate) const LONG_PATIENCE: Duration = Duration::from_secs(605);

/// What a transaction that reads whole tables sets for itself. Its plans are made anew each time, and none is kept:
/// the session goes on with those that go by index.
pub(crate) const UNHURRIED: &str = "SET LOCAL statement_timeout = '600s'; SET LOCAL plan_cache_mode = force_custom_plan; \
    SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on";

/// Statements that a connection keeps prepared: more than this crate has.
const STATEMENTS: usize = 256;

/// The session, sent with the connection's first message: no round trip is spent on it.
const SESSION: [(&str, &str); 19] = [
    // A lock is waited for a little longer than a frozen holder lives (idle_in_transaction_session_timeout), and a
    // statement for more than one lock.
    ("lock_timeout", "3s"),
    ("statement_timeout", "5s"),
    // A process that stands still inside a transaction holds its products' locks; the server ends it.
    ("idle_in_transaction_session_timeout", "2s"),
    // A backend whose client is gone notices within a second, also while it waits for a lock. PostgreSQL 14.
    ("client_connection_check_interval", "1s"),
    // A client that vanished without a word is given up after 10 + 3 × 5 s, and after 10 s when it was sent something.
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10s"),
    // Locks are taken first and read in later statements, which has to see what the lock's last holder committed.
    ("default_transaction_isolation", "read committed"),
    ("timezone", "UTC"),
    // What was answered survives a crash, whatever the server's default is.
    ("synchronous_commit", "on"),
    // A plan is made once a statement and session, for sets of unknown size: that is always one by index. Custom
    // plans would be made anew for each set, and change with the statistics.
    ("plan_cache_mode", "force_generic_plan"),
    // A plan made while a table was tiny reads all of it, and foreign keys' own checks keep theirs: 2 000 orders/s in
    // place of 26 000. Every statement but those of `UNHURRIED` has an index to go by.
    ("enable_seqscan", "off"),
    // Likewise for joins: from the few rows of a set to each one's, never through a whole index.
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    // Where no index serves, the plan's cost is beyond measure, and would be compiled for it.
    ("jit", "off"),
    // Sets are small; workers would cost more than they bring.
    ("max_parallel_workers_per_gather", "0"),
    // Notices may quote values, and sqlx logs them.
    ("client_min_messages", "error"),
    ("search_path", "public"),
];

/// Reads the address.
pub(crate) fn options(url: &str) -> Result<PgConnectOptions> {
    // The error may quote the address, which may hold a password.
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| StoreError::Unavailable("the database's address cannot be read".to_owned()))?;
    Ok(options
        .application_name("tessera")
        .options(SESSION)
        .statement_cache_capacity(STATEMENTS)
        .disable_statement_logging())
}

/// Opens a connection; none when the server has as many as it takes.
pub(crate) async fn open(options: &PgConnectOptions) -> Result<Option<PgConnection>> {
    match timeout(CONNECT_TIMEOUT, options.connect()).await {
        Ok(Err(error)) if is_full(&error) => Ok(None),
        Ok(opened) => opened.map(Some).map_err(|e| fault(&e)),
        Err(_) => Err(StoreError::Unavailable("the server does not answer".to_owned())),
    }
}
