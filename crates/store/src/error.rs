//! What can go wrong with a store, sorted by who has to act.

/// The result of a store's operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A store's failure. No variant carries a bound value: codes and addresses must not reach a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// An input's own fault: a constraint was broken or a value does not fit (SQLSTATE class 22 or 23; SQLite
    /// CONSTRAINT, MISMATCH, TOOBIG, RANGE), or a stored row cannot be what it claims. Halve the set.
    #[error("data fault: {0}")]
    Data(String),
    /// The store cannot work now: away, busy, full, read-only. Nothing of the set was done. Try later.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The connection broke during commit. The set may or may not be done: run it again under the same ids.
    #[error("the outcome of a commit is not known: {0}")]
    InDoubt(String),
    /// The schema is not this program's.
    #[error("the database schema does not fit: {0}")]
    Schema(String),
}

impl StoreError {
    /// A stored row that cannot be what it claims to be.
    pub fn inconsistent(table: &str, column: &str) -> Self {
        Self::Data(format!("inconsistent row: {table}.{column} holds no value of its type"))
    }

    /// A name for failures of one sort, to group and compare them by.
    pub fn fingerprint(&self) -> String {
        match self {
            Self::Data(detail) => format!("data:{detail}"),
            Self::Unavailable(_) => "unavailable".to_owned(),
            Self::InDoubt(_) => "in-doubt".to_owned(),
            Self::Schema(_) => "schema".to_owned(),
        }
    }
}
