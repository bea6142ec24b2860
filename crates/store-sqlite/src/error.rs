//! Which of SQLite's failures are an input's fault.

use tessera_store::StoreError;

/// Primary result codes that blame the data: TOOBIG, CONSTRAINT, MISMATCH, RANGE
/// (<https://www.sqlite.org/rescode.html>). The low byte of an extended code is its primary one.
const DATA: [u32; 4] = [18, 19, 20, 25];

/// Sorts a failure. SQLite's messages name tables, columns and constraints, never values.
pub(crate) fn fault(error: sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(database) => {
            let code = database.code().and_then(|c| c.parse::<u32>().ok()).unwrap_or(1) & 0xff;
            let message = database.message().to_owned();
            match code {
                code if DATA.contains(&code) => StoreError::Data(message),
                1 if message.starts_with("no such") => StoreError::Schema(message),
                // What sum() says; it has no code of its own.
                1 if message == "integer overflow" => StoreError::Data(message),
                _ => StoreError::Unavailable(message),
            }
        }
        sqlx::Error::ColumnDecode { index, .. } => StoreError::inconsistent("row", &index),
        sqlx::Error::PoolTimedOut => StoreError::Unavailable("waited too long for a connection".to_owned()),
        other => StoreError::Unavailable(other.to_string()),
    }
}

/// A commit's failure: a constraint checked at the end blames the data, anything else leaves it open.
pub(crate) fn commit_fault(error: sqlx::Error) -> StoreError {
    match fault(error) {
        StoreError::Unavailable(detail) => StoreError::InDoubt(detail),
        other => other,
    }
}
