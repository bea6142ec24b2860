//! Rows to values: what does not fit its type is an inconsistent row, named by table and column.

use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row, Type};
use tessera_model::time::Timestamp;
use tessera_store::{Result, StoreError};
use uuid::Uuid;

use crate::encode::At;

/// A row of a table.
pub(crate) struct Fields<'r> {
    row: &'r PgRow,
    table: &'static str,
}

impl<'r> Fields<'r> {
    pub(crate) fn of(row: &'r PgRow, table: &'static str) -> Self {
        Self { row, table }
    }

    /// The column as it is.
    pub(crate) fn get<T: Decode<'r, Postgres> + Type<Postgres>>(&self, column: &str) -> Result<T> {
        self.row.try_get(column).map_err(|_| self.inconsistent(column))
    }

    pub(crate) fn id<T>(&self, column: &str, from: fn(Uuid) -> T) -> Result<T> {
        self.get(column).map(from)
    }

    pub(crate) fn optional_id<T>(&self, column: &str, from: fn(Uuid) -> T) -> Result<Option<T>> {
        Ok(self.get::<Option<Uuid>>(column)?.map(from))
    }

    pub(crate) fn time(&self, column: &str) -> Result<Timestamp> {
        self.get::<At>(column).map(|at| at.0)
    }

    pub(crate) fn optional_time(&self, column: &str) -> Result<Option<Timestamp>> {
        Ok(self.get::<Option<At>>(column)?.map(|at| at.0))
    }

    /// A text that has to parse.
    pub(crate) fn parse<T>(&self, column: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        parse(self.get(column)?).ok_or_else(|| self.inconsistent(column))
    }

    /// Bytes of a fixed length.
    pub(crate) fn bytes<const N: usize>(&self, column: &str) -> Result<[u8; N]> {
        self.get::<&[u8]>(column)?.try_into().map_err(|_| self.inconsistent(column))
    }

    /// A `bigint` that has to fit.
    pub(crate) fn integer<T: TryFrom<i64>>(&self, column: &str) -> Result<T> {
        T::try_from(self.get::<i64>(column)?).map_err(|_| self.inconsistent(column))
    }

    /// An `integer` that has to fit.
    pub(crate) fn small<T: TryFrom<i32>>(&self, column: &str) -> Result<T> {
        T::try_from(self.get::<i32>(column)?).map_err(|_| self.inconsistent(column))
    }

    pub(crate) fn inconsistent(&self, column: &str) -> StoreError {
        StoreError::inconsistent(self.table, column)
    }
}
