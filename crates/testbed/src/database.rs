//! A PostgreSQL database of its own for a test.

#![expect(clippy::expect_used, reason = "a test that gets no database fails")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};

/// Where the server is that gives tests their databases.
const SERVER: &str = "TEST_POSTGRES_URL";

/// A database that is there as long as this value.
pub struct Database {
    server: String,
    name: String,
}

impl Database {
    /// Creates an empty one.
    ///
    /// # Panics
    /// When there is no server to create it in.
    pub async fn create() -> Self {
        let server = std::env::var(SERVER).expect("set TEST_POSTGRES_URL or run `cargo xtask test`");
        let database = Self { name: unused_name(), server };
        database.at_server(&format!("CREATE DATABASE {}", database.name)).await.expect("a database");
        database
    }

    /// Its address.
    pub fn url(&self) -> String {
        let (address, settings) = match self.server.split_once('?') {
            Some((address, settings)) => (address, format!("?{settings}")),
            None => (self.server.as_str(), String::new()),
        };
        // `postgres://user@host:port/name`: what follows the third slash is the name.
        let host = address.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        format!("{host}/{}{settings}", self.name)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection to it, for what the store's seam does not show.
    ///
    /// # Panics
    /// When the server is away.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url()).await.expect("the database is there")
    }

    async fn at_server(&self, sql: &str) -> Result<(), sqlx::Error> {
        let mut server = PgConnection::connect(&self.server).await?;
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut server).await?;
        server.close().await
    }
}

/// No other process has this id at this time, and no other database of this one this number.
fn unused_name() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros());
    format!("tessera_test_{}_{since}_{}", std::process::id(), MADE.fetch_add(1, Ordering::SeqCst))
}

impl Drop for Database {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // A thread and runtime of its own: those of the test may be ending. What cannot be dropped is left.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.map(|runtime| runtime.block_on(self.at_server(&sql)).ok()).ok();
            });
        });
    }
}
