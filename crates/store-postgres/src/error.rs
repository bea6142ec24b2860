//! Which of PostgreSQL's failures are an input's fault.
//!
//! Its messages may quote values (`invalid input syntax for type uuid: "…"`), so none is handed on: a text is made
//! of the SQLSTATE, the constraint's or table's name, and words of our own.

use sqlx::error::DatabaseError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use tessera_store::StoreError;

const TOO_MANY: &str = "53300";

/// What is said when no connection could be had because of it.
pub(crate) fn full() -> StoreError {
    StoreError::Unavailable(named(TOO_MANY, None, None))
}

/// Sorts a statement's failure.
///
/// Class 22 (data exception) and 23 (integrity constraint) blame the data, and so does 54000: an index entry larger
/// than a page takes, which is what SQLite calls TOOBIG. Class 42 but for privileges, 3F and 3D say that what the
/// statement names is not there. Source: appendix A of PostgreSQL's manual.
pub(crate) fn fault(error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(database) => answered(database.as_ref()),
        sqlx::Error::ColumnDecode { index, .. } => StoreError::inconsistent("row", index),
        // What was bound did not fit its type; nothing was sent.
        sqlx::Error::Encode(_) => StoreError::Data("a value does not fit its column".to_owned()),
        sqlx::Error::Io(io) => StoreError::Unavailable(format!("the connection failed: {}", io.kind())),
        sqlx::Error::Tls(_) => StoreError::Unavailable("the encrypted connection failed".to_owned()),
        sqlx::Error::Configuration(_) => {
            StoreError::Unavailable("the database's address cannot be used".to_owned())
        }
        _ => StoreError::Unavailable("the connection failed".to_owned()),
    }
}

fn answered(database: &dyn DatabaseError) -> StoreError {
    let code = database.code().unwrap_or_default();
    let text = named(&code, database.constraint(), database.table());
    match class(&code) {
        "22" | "23" => StoreError::Data(text),
        _ if code == "54000" => StoreError::Data(text),
        _ if code == "42501" => StoreError::Unavailable(text),
        "42" | "3F" | "3D" => StoreError::Schema(text),
        _ => StoreError::Unavailable(text),
    }
}

fn class(code: &str) -> &str {
    code.get(..2).unwrap_or_default()
}

fn named(code: &str, constraint: Option<&str>, table: Option<&str>) -> String {
    let words = words(code);
    match (constraint, table) {
        (Some(constraint), Some(table)) => format!("{words} {constraint} of {table} (SQLSTATE {code})"),
        (None, Some(table)) => format!("{words} in {table} (SQLSTATE {code})"),
        (Some(constraint), None) => format!("{words} {constraint} (SQLSTATE {code})"),
        (None, None) => format!("{words} (SQLSTATE {code})"),
    }
}

/// What the codes that operators meet say.
fn words(code: &str) -> &'static str {
    match code {
        "28000" | "28P01" => "the server refuses this user or password",
        "3D000" => "there is no such database",
        "40P01" => "a deadlock was broken",
        "42501" => "this user may not do that",
        "42704" => "the server is older than PostgreSQL 14, or lacks a setting",
        "42P01" => "a table is missing: run `tessera migrate`",
        TOO_MANY => "the server has too many connections",
        "55P03" => "waited too long for a lock",
        "57014" => "a statement took too long",
        "25P03" => "the transaction stood still for too long",
        "57P01" | "57P02" | "57P03" => "the server is stopping or starting",
        _ => match class(code) {
            "22" => "a value does not fit",
            "23" => "refused by constraint",
            "42" | "3F" => "the schema is another",
            "53" => "the server is out of resources",
            _ => "the server cannot do it",
        },
    }
}

/// A commit's failure. A broken constraint, or a transaction that the server had given up before, is known not to be
/// committed. Everything else leaves it open: also the server's own last word (57P01), which may follow a commit that
/// waits for a standby.
pub(crate) fn commit_fault(error: &sqlx::Error) -> StoreError {
    match (fault(error), error) {
        (StoreError::Unavailable(text), sqlx::Error::Database(database)) => {
            let code = database.code().unwrap_or_default();
            let undone = (class(&code) == "40" && code != "40003") || code == "25P03";
            if undone { StoreError::Unavailable(text) } else { StoreError::InDoubt(text) }
        }
        (StoreError::Unavailable(text), _) => StoreError::InDoubt(text),
        (other, _) => other,
    }
}

/// Whether the server, the database or the user has as many connections as it may: 53300.
pub(crate) fn is_full(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == TOO_MANY)
}

/// Whether the connection is of no use any more.
pub(crate) fn ends_connection(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(database) => {
            let severity = database.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::severity);
            matches!(severity, Some(PgSeverity::Fatal | PgSeverity::Panic))
        }
        sqlx::Error::Encode(_) | sqlx::Error::ColumnDecode { .. } => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_broke_and_no_value() {
        let text = named("23514", Some("order_hold"), Some("orders"));
        assert_eq!(text, "refused by constraint order_hold of orders (SQLSTATE 23514)");
        assert_eq!(named("22P02", None, None), "a value does not fit (SQLSTATE 22P02)");
    }

    #[test]
    fn commit_whose_answer_is_lost_is_in_doubt() {
        let lost = sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
        assert!(matches!(commit_fault(&lost), StoreError::InDoubt(_)));
        assert!(matches!(fault(&lost), StoreError::Unavailable(_)));
        assert!(ends_connection(&lost));
    }
}
