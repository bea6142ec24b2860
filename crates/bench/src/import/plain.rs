//! The least that storing as many codes takes: rows as wide, in a plain table with one unique index.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tessera_store::Entropy;
use tessera_testbed::Database;

use crate::own::Engine;

/// Bytes of what recognises a code, under the index; and of a sealed code of 16 characters.
const KEY: usize = 16;
const SEALED: usize = 56;

/// A row: its key, and behind it what is sealed.
pub(super) type Row = [u8; KEY + SEALED];

/// Rows of one statement: as many as the import writes in one.
const SET: usize = 1_000;

const TABLE: &str = "CREATE TABLE plain (key BLOB NOT NULL, sealed BLOB NOT NULL); CREATE UNIQUE INDEX plain_key ON plain (key)";

const COPY: &str = "COPY plain (key, sealed) FROM STDIN (FORMAT binary)";
/// How COPY's bytes begin (no flags, nothing more in the header) and end.
const COPY_BEGINS: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const COPY_ENDS: &[u8] = &[0xff, 0xff];

/// So many rows of random bytes.
pub(super) fn rows(count: usize, entropy: &Entropy) -> Vec<Row> {
    (0..count).map(|_| entropy.bytes()).collect()
}

/// What is measured, in words.
pub(super) fn way(engine: &Engine) -> String {
    match engine {
        Engine::Sqlite => format!("INSERT in sets of {SET}"),
        Engine::Servers { .. } => "COPY in one transaction".to_owned(),
    }
}

/// Into a new file with the store's settings, by one prepared statement: a set of rows a transaction.
pub(super) async fn insert(file: &Path, rows: &[Row]) -> anyhow::Result<Duration> {
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let options = options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    // As the store's writer has them: `connect.rs` of it says why.
    let options = options.pragma("cache_size", "-8192").pragma("wal_autocheckpoint", "8192");
    let mut connection = options.pragma("temp_store", "memory").connect().await?;
    sqlx::raw_sql(TABLE).execute(&mut connection).await?;
    let began = Instant::now();
    for set in rows.chunks(SET) {
        let values = vec!["(?, ?)"; set.len()].join(", ");
        let statement = AssertSqlSafe(format!("INSERT INTO plain (key, sealed) VALUES {values}"));
        let mut insert = sqlx::query(statement);
        for (key, sealed) in set.iter().map(|row| row.split_at(KEY)) {
            insert = insert.bind(key).bind(sealed);
        }
        let mut tx = connection.begin().await?;
        insert.execute(&mut *tx).await?;
        tx.commit().await?;
    }
    let took = began.elapsed();
    connection.close().await?;
    Ok(took)
}

/// Into a new database of this server.
pub(super) async fn copy(server: &str, rows: &[Row]) -> anyhow::Result<Duration> {
    let database = Database::create_in(server.to_owned()).await;
    let mut connection = database.connect().await;
    sqlx::raw_sql(AssertSqlSafe(TABLE.replace("BLOB", "bytea"))).execute(&mut connection).await?;
    let began = Instant::now();
    let mut copy = connection.copy_in_raw(COPY).await?;
    copy.send(COPY_BEGINS).await?;
    for set in rows.chunks(SET) {
        copy.send(set.iter().flat_map(tuple).collect::<Vec<u8>>()).await?;
    }
    copy.send(COPY_ENDS).await?;
    let stored = copy.finish().await?;
    let took = began.elapsed();
    connection.close().await?;
    anyhow::ensure!(stored == u64::try_from(rows.len())?, "not every row was copied");
    Ok(took)
}

/// A row as COPY takes it: how many fields, and each behind its length.
fn tuple(row: &Row) -> impl Iterator<Item = u8> {
    let (key, sealed) = row.split_at(KEY);
    let parts = [&[0, 2][..], &[0, 0, 0, 16], key, &[0, 0, 0, 56], sealed];
    parts.into_iter().flatten().copied()
}
