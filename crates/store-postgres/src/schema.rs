//! How the schema stands, and how it is brought up to date.

use sqlx::Row;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tessera_store::{Result, SchemaState, StoreError};
use tokio::time::timeout;

use crate::connect::{LONG_PATIENCE, PATIENCE};
use crate::error::fault;
use crate::pool::{Lease, State, run};

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations/postgres");

/// Whether our migrations were ever run here, and how many tables there are that no extension brought.
const TABLES: &str = "\
    SELECT count(*) FILTER (WHERE c.relname = '_sqlx_migrations') AS ours, count(*) AS tables
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')";
const VERSION: &str = "SELECT coalesce(max(version), 0) AS version FROM _sqlx_migrations WHERE success";

/// Migrations wait for one another, and for locks, as long as they are given.
const SESSION: [(&str, &str); 3] =
    [("statement_timeout", "600s"), ("lock_timeout", "600s"), ("enable_seqscan", "on")];

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
    let options = options.clone().options(SESSION);
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
    let outcome = timeout(LONG_PATIENCE, MIGRATOR.run(&pool)).await;
    timeout(PATIENCE, pool.close()).await.ok();
    match outcome {
        Ok(outcome) => outcome.map_err(unfit),
        Err(_) => Err(StoreError::Unavailable("the migration took too long".to_owned())),
    }
}

fn unfit(error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => fault(&error),
        other => StoreError::Schema(other.to_string()),
    }
}
