//! A PostgreSQL database of its own for a test.

#![expect(clippy::expect_used, reason = "a test that gets no database fails")]

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Row};

use crate::servers;

/// A database that is there as long as this value.
pub struct Database {
    server: String,
    /// The server's address for those who are to go through a proxy.
    through: Option<String>,
    name: String,
}

impl Database {
    /// Creates an empty one.
    ///
    /// # Panics
    /// When there is no server to create it in.
    pub async fn create() -> Self {
        Self::create_in(servers::postgres_url()).await
    }

    /// Creates an empty one in the server at this address.
    pub async fn create_in(server: String) -> Self {
        Self::create_from(server, "template1").await
    }

    /// Creates a copy of it. Nobody may be connected to it.
    ///
    /// # Panics
    /// When somebody is, after a while.
    pub async fn copied(&self) -> Self {
        Self::create_from(self.server.clone(), &self.name).await
    }

    async fn create_from(server: String, template: &str) -> Self {
        let mut connection = PgConnection::connect(&server).await.expect("the server is there");
        let name = "SELECT 'tessera_test_' || replace(gen_random_uuid()::text, '-', '')";
        let row = sqlx::query(name).fetch_one(&mut connection).await.expect("a name");
        let database = Self { name: row.get(0), server, through: None };
        let create = AssertSqlSafe(format!("CREATE DATABASE {} TEMPLATE {template}", database.name));
        sqlx::raw_sql(create).execute(&mut connection).await.expect("a database");
        database
    }

    /// The same, with an address that leads through a proxy to its server. It is dropped past the proxy.
    #[must_use]
    pub fn behind(mut self, proxy: String) -> Self {
        self.through = Some(proxy);
        self
    }

    /// Its address.
    pub fn url(&self) -> String {
        let server = self.through.as_ref().unwrap_or(&self.server);
        let (address, settings) = match server.split_once('?') {
            Some((address, settings)) => (address, format!("?{settings}")),
            None => (server.as_str(), String::new()),
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

    async fn drop_at_server(&self) -> Result<(), sqlx::Error> {
        let mut server = PgConnection::connect(&self.server).await?;
        let drop = AssertSqlSafe(format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        sqlx::raw_sql(drop).execute(&mut server).await?;
        server.close().await
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A thread and runtime of its own: those of the test may be ending. What cannot be dropped is left.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.map(|runtime| runtime.block_on(self.drop_at_server()).ok()).ok();
            });
        });
    }
}
