//! Where a shop's rows are: in a file of a folder of its own, or in a database of its own on a server.

#![expect(clippy::unwrap_used, reason = "a shop that cannot be opened fails its test")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use tempfile::TempDir;
use tessera_model::time::Timestamp;
use tessera_store::{Clock, Store};
use tessera_store_postgres::{Postgres, Time};
use tessera_store_sqlite::Sqlite;
use uuid::Uuid;

use crate::Database;

/// Connections of one shop: one for each step under way, and one for a look.
const CONNECTIONS: u32 = 4;

/// Gives the statements that empty a database. What is append-only says no to being truncated while its triggers are on.
const EMPTYING: &str = "\
    WITH emptied AS (SELECT c.oid, quote_ident(c.relname) AS name FROM pg_class c
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
            AND c.relname NOT IN ('store', '_sqlx_migrations')),
    guarded AS (SELECT name FROM emptied
        WHERE EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = emptied.oid AND NOT t.tgisinternal))
    SELECT (SELECT string_agg(format('ALTER TABLE %s DISABLE TRIGGER USER;', name), '') FROM guarded)
        || (SELECT format('TRUNCATE %s;', string_agg(name, ', ')) FROM emptied)
        || (SELECT string_agg(format('ALTER TABLE %s ENABLE TRIGGER USER;', name), '') FROM guarded)";

/// Which engine shops are opened on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file; needs nothing.
    Sqlite,
    /// A server that `TEST_POSTGRES_URL` names.
    Postgres,
}

impl Engine {
    /// What `TEST_ENGINE` says: `postgres`, or else `sqlite`.
    #[expect(
        clippy::disallowed_methods,
        reason = "which engine a run is about, the caller's environment says"
    )]
    pub fn of_this_run() -> Self {
        match std::env::var("TEST_ENGINE").as_deref() {
            Ok("postgres") => Self::Postgres,
            Ok("sqlite") | Err(_) => Self::Sqlite,
            Ok(other) => panic!("TEST_ENGINE is `sqlite` or `postgres`, not `{other}`"),
        }
    }
}

/// Gone with this value.
pub(super) enum Home {
    Folder(TempDir),
    Database(Database),
}

impl Home {
    pub(super) async fn found(engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => Self::Folder(tempfile::tempdir().unwrap()),
            Engine::Postgres => Self::Database(Database::create().await),
        }
    }

    pub(super) async fn store(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        match self {
            Self::Folder(_) => Arc::new(Sqlite::open(&self.file(), 4, clock).await.unwrap()),
            Self::Database(database) => {
                Arc::new(Postgres::connect(&database.url(), CONNECTIONS, Time::Given(clock)).await.unwrap())
            }
        }
    }

    /// A copy of it, which nobody may have open.
    pub(super) async fn copied(&self) -> Self {
        match self {
            Self::Folder(_) => {
                let (copy, from) = (Self::found(Engine::Sqlite).await, self.file());
                // Beside it, what was written and not moved into it yet.
                for end in ["", "-wal"] {
                    let end = |path: PathBuf| PathBuf::from(format!("{}{end}", path.display()));
                    if end(from.clone()).exists() {
                        std::fs::copy(end(from.clone()), end(copy.file())).unwrap();
                    }
                }
                copy
            }
            Self::Database(database) => Self::Database(database.copied().await),
        }
    }

    /// The file with everything in it.
    pub(super) fn file(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.path().join("shop.db"),
            Self::Database(_) => panic!("a test that reads the file opens its shop on SQLite"),
        }
    }

    pub(super) fn database(&self) -> &Database {
        match self {
            Self::Folder(_) => panic!("a test that asks the server opens its shop on PostgreSQL"),
            Self::Database(database) => database,
        }
    }

    pub(super) async fn number(&self, query: &str) -> i64 {
        match self {
            Self::Folder(_) => {
                let mut connection = self.open_file().await;
                let row = sqlx::query(AssertSqlSafe(query)).fetch_one(&mut connection).await.unwrap();
                connection.close().await.unwrap();
                row.get(0)
            }
            Self::Database(database) => {
                // A sum of `bigint` is a `numeric` there.
                let query = AssertSqlSafe(format!("SELECT ({query})::bigint"));
                let mut connection = database.connect().await;
                let row = sqlx::query(query).fetch_one(&mut connection).await.unwrap();
                connection.close().await.unwrap();
                row.get(0)
            }
        }
    }

    pub(super) async fn operate(&self, statement: &str) {
        match self {
            Self::Folder(_) => {
                let mut connection = self.open_file().await;
                sqlx::query(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
            Self::Database(database) => {
                let mut connection = database.connect().await;
                sqlx::query(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
        }
    }

    /// Empties every table of a database but what tells this copy from another; a file is not emptied.
    pub(super) async fn is_emptied(&self) -> bool {
        let Self::Database(database) = self else { return false };
        let mut connection = database.connect().await;
        let statements: String = sqlx::query(EMPTYING).fetch_one(&mut connection).await.unwrap().get(0);
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        true
    }

    /// An id as the engine's SQL writes it.
    pub(super) fn literal(&self, id: Uuid) -> String {
        match self {
            Self::Folder(_) => format!("unhex('{}')", id.simple()),
            Self::Database(_) => format!("'{id}'"),
        }
    }

    /// An instant as the engine's SQL writes it.
    pub(super) fn instant(&self, at: Timestamp) -> String {
        match self {
            Self::Folder(_) => at.micros().to_string(),
            Self::Database(_) => format!("'epoch'::timestamptz + interval '{} microseconds'", at.micros()),
        }
    }

    async fn open_file(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.file()).foreign_keys(true);
        options.busy_timeout(Duration::from_secs(5)).connect().await.unwrap()
    }
}
