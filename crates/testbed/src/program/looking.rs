//! What a test looks at past the program: the database's file.

#![expect(clippy::unwrap_used, reason = "a file that cannot be looked at fails its test")]

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use super::Program;

impl Program {
    /// The one number that a query gives, asked past the program.
    pub async fn number(&self, query: &str) -> i64 {
        number(&self.data().join("tessera.db"), query).await
    }

    /// Changes the file past the program: what a fault of ours, or a hand, would leave.
    pub async fn operate(&self, statement: &str) {
        let mut connection = connect(&self.data().join("tessera.db")).await;
        sqlx::query(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// A number as [`Program::number`] gives it, of a copy of the files, as the processes left them: for a program that is down.
    pub async fn number_of_copy(&self, query: &str) -> i64 {
        let copy = tempfile::tempdir().unwrap();
        for name in ["tessera.db", "tessera.db-wal"] {
            std::fs::copy(self.data().join(name), copy.path().join(name)).unwrap();
        }
        number(&copy.path().join("tessera.db"), query).await
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
