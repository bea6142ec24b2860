//! What a test looks at past the program: the database.

#![expect(clippy::unwrap_used, reason = "a database that cannot be looked at fails its test")]

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use super::Program;

impl Program {
    /// The one number that a query gives, asked past the program.
    pub async fn number(&self, query: &str) -> i64 {
        let Some(servers) = &self.servers else { return number(&self.file_of_database(), query).await };
        let mut connection = servers.database.connect().await;
        // Sums of 64-bit numbers are wider with PostgreSQL.
        let query = format!("SELECT ({query})::bigint");
        let row = sqlx::query(AssertSqlSafe(query)).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        row.get(0)
    }

    /// Changes the database past the program: what a fault of ours, or a hand, would leave.
    pub async fn operate(&self, statement: &str) {
        if let Some(servers) = &self.servers {
            let mut connection = servers.database.connect().await;
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
            return connection.close().await.unwrap();
        }
        let mut connection = connect(&self.file_of_database()).await;
        sqlx::query(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// A number as [`Program::number`] gives it, of a copy of the files, as the processes left them: for a program
    /// that is down. A server's data stays as it is while nobody works on it.
    pub async fn number_of_copy(&self, query: &str) -> i64 {
        if self.servers.is_some() {
            return self.number(query).await;
        }
        let copy = tempfile::tempdir().unwrap();
        for name in ["tessera.db", "tessera.db-wal"] {
            std::fs::copy(self.data().join(name), copy.path().join(name)).unwrap();
        }
        number(&copy.path().join("tessera.db"), query).await
    }

    fn file_of_database(&self) -> std::path::PathBuf {
        self.data().join("tessera.db")
    }
}

async fn connect(file: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(5));
    options.connect().await.unwrap()
}

async fn number(file: &Path, query: &str) -> i64 {
    let mut connection = connect(file).await;
    let row = sqlx::query(AssertSqlSafe(query)).fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    row.get(0)
}
