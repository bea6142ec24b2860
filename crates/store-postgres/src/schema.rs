//! How the schema stands, and how it is brought up to date.

use std::pin::Pin;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Row};
use tessera_store::{Result, SchemaState, StoreError};
use tokio::time::timeout;

use crate::connect::{LONG_PATIENCE, open};
use crate::error::fault;
use crate::pool::{Lease, State, run};

type Running<'c> = Pin<Box<dyn Future<Output = std::result::Result<(), MigrateError>> + Send + 'c>>;

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations/postgres");

/// Whether our migrations were ever run here, and how many tables there are that no extension brought.
const TABLES: &str = "\
    SELECT count(*) FILTER (WHERE c.relname = '_sqlx_migrations') AS ours, count(*) AS tables
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')";
const VERSION: &str = "SELECT coalesce(max(version), 0) AS version FROM _sqlx_migrations WHERE success";

/// Migrations wait for one another, and for locks, as long as they are given.
const SESSION: &str = "SET statement_timeout = '600s'; SET lock_timeout = '600s'; SET enable_seqscan = on";

pub(crate) async fn state(lease: &mut Lease) -> Result<SchemaState> {
    let (ours, tables) = (number(lease, TABLES, "ours").await?, number(lease, TABLES, "tables").await?);
    match (ours, tables) {
        (0, 0) => return Ok(SchemaState::Empty),
        (0, _) => return Err(stranger()),
        _ => {}
    }
    let known = MIGRATOR.iter().map(|m| m.version).max().unwrap_or(0);
    Ok(match number(lease, VERSION, "version").await? {
        0 => SchemaState::Empty,
        v if v < known => SchemaState::Behind,
        v if v > known => SchemaState::Ahead,
        _ => SchemaState::Current,
    })
}

fn stranger() -> StoreError {
    StoreError::Schema("the database is another program's: name one of its own".into())
}

async fn number(lease: &mut Lease, sql: &str, column: &str) -> Result<i64> {
    let rows = run(lease, sql.to_owned(), State::Rests).await?;
    let row = rows.first().ok_or_else(|| StoreError::inconsistent("pg_class", column))?;
    row.try_get(column).map_err(|e| fault(&e))
}

/// Runs the migrations on a connection of its own, under a lock: of two processes one does it and the other waits.
pub(crate) async fn migrate(options: &PgConnectOptions) -> Result<()> {
    let mut connection = open(options).await?;
    sqlx::raw_sql(SESSION).execute(&mut connection).await.map_err(|e| fault(&e))?;
    let outcome = timeout(LONG_PATIENCE, run_all(&mut connection)).await;
    connection.close().await.ok();
    match outcome {
        Ok(outcome) => outcome.map_err(unfit),
        Err(_) => Err(StoreError::Unavailable("the migration took too long".to_owned())),
    }
}

/// Boxed, for the compiler cannot tell that an `async fn` of a trait may borrow the connection.
fn run_all(connection: &mut PgConnection) -> Running<'_> {
    Box::pin(MIGRATOR.run(connection))
}

fn unfit(error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => fault(&error),
        other => StoreError::Schema(other.to_string()),
    }
}
