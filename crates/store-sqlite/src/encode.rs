//! Sets as JSON parameters: `json_each(?1)` gives one row an element.

use data_encoding::HEXLOWER;
use serde::Serialize;
use tessera_store::{Result, StoreError};
use uuid::Uuid;

/// The bound of a page: the id it comes before, or one above all ids. Not `?1 IS NULL OR id < ?1`, which reads
/// every row of the pages before it.
macro_rules! before {
    ($parameter:literal) => {
        concat!("coalesce(", $parameter, ", x'ffffffffffffffffffffffffffffffffff')")
    };
}
pub(crate) use before;

/// A set as one parameter.
pub(crate) fn set<T: Serialize>(rows: impl IntoIterator<Item = T>) -> Result<String> {
    let rows: Vec<T> = rows.into_iter().collect();
    serde_json::to_string(&rows).map_err(|_| StoreError::Data("a set cannot be written as JSON".to_owned()))
}

/// Bytes as SQL's `unhex` reads them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// An id as SQL's `unhex` reads it.
pub(crate) fn id(uuid: Uuid) -> String {
    hex(uuid.as_bytes())
}
