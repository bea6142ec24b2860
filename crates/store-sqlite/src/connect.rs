//! Connections: how a file is opened, and the proof that it was opened so.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{Connection, Row};
use tessera_store::{Result, StoreError};

use crate::error::fault;

/// How long a statement waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a step waits for its turn at the one writer, or for a reader.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// The writer's page cache, in KiB (SQLite takes it as a negative number): the pages that a set touches. A larger
/// one costs more than it saves, for each commit walks it.
const WRITER_CACHE: &str = "-8192";

/// A reader's, small: it is emptied whenever something was committed, which is before every snapshot. Readers of a
/// process that serves read the file through [`READER_MAP`] instead.
const READER_CACHE: &str = "-2048";

/// How much of the file such readers map into memory, in bytes.
const READER_MAP: &str = "536870912";

/// Pages in the log before a commit copies them into the file: 32 MiB. A checkpoint costs two more syncs, and
/// a page that many sets touched is copied once.
const CHECKPOINT_PAGES: &str = "8192";

/// What the log's file is cut back to after a burst, in bytes.
const LOG_BYTES: &str = "67108864";

/// Rows that may wait between SQLite's thread and the step that reads them.
const ROW_BUFFER: usize = 1_024;

fn options(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .journal_mode(SqliteJournalMode::Wal)
        // FULL syncs the log at each commit: what was answered survives a power cut.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        // Without it INSERT OR REPLACE would pass the triggers that keep tables append-only.
        .pragma("recursive_triggers", "on")
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        .pragma("journal_size_limit", LOG_BYTES)
        .pragma("temp_store", "memory")
        // Rows cross from SQLite's thread one by one; a set's worth of them does so without waiting.
        .row_buffer_size(ROW_BUFFER)
        // No ANALYZE, ever: with the statistics of a small shop the planner reads whole tables, and would until
        // the next close of a shop that has grown. Without any, every statement goes by its index.
        .optimize_on_close(false, None)
}

/// The one connection that writes.
pub(crate) async fn writer(file: &Path) -> Result<SqlitePool> {
    let pool = pool(1)
        .connect_with(options(file).pragma("cache_size", WRITER_CACHE).create_if_missing(true))
        .await
        .map_err(fault)?;
    Ok(pool)
}

/// Connections that only read. Opened when first needed, for they cannot create the file.
pub(crate) fn readers(file: &Path, count: u32) -> SqlitePool {
    pool(count.max(1)).connect_lazy_with(reader(file))
}

/// The same with the file mapped, which counts as memory of the process once for each.
pub(crate) fn readers_mapped(file: &Path, count: u32) -> SqlitePool {
    pool(count.max(1)).connect_lazy_with(reader(file).pragma("mmap_size", READER_MAP))
}

fn reader(file: &Path) -> SqliteConnectOptions {
    options(file).pragma("query_only", "on").pragma("cache_size", READER_CACHE)
}

/// A transaction that SQLite has ended by itself, as it does when the disk is full, is still under way for sqlx, which
/// cannot roll it back and begins no other: such a connection is closed, and another is opened.
fn pool(count: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(count)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_connect(|connection, _| Box::pin(assert_safe(connection)))
        .test_before_acquire(false)
        .before_acquire(|connection, _| {
            let rests = !connection.is_in_transaction();
            Box::pin(async move { Ok(rests) })
        })
}

/// SQLite ignores pragmas it does not know, so each one that safety rests on is read back.
async fn assert_safe(connection: &mut SqliteConnection) -> std::result::Result<(), sqlx::Error> {
    let sql = "SELECT (SELECT foreign_keys FROM pragma_foreign_keys), \
               (SELECT journal_mode FROM pragma_journal_mode), \
               (SELECT synchronous FROM pragma_synchronous)";
    let row = sqlx::query(sql).fetch_one(connection).await?;
    let (keys, journal, synchronous): (i64, String, i64) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if (keys, journal.as_str(), synchronous) == (1, "wal", 2) {
        return Ok(());
    }
    let found = format!("foreign_keys {keys}, journal_mode {journal}, synchronous {synchronous}");
    Err(sqlx::Error::Configuration(Box::new(StoreError::Unavailable(found))))
}
