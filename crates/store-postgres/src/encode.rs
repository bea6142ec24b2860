//! Sets as array parameters: `unnest($1, $2, …)` gives one row an element.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};
use tessera_model::time::Timestamp;

/// The bound of a page: the id it comes before, or one above all ids.
macro_rules! before {
    ($parameter:literal) => {
        concat!("coalesce(", $parameter, "::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')")
    };
}
pub(crate) use before;

/// One column of a set.
pub(crate) fn column<'i, I, T>(items: &'i [I], of: impl Fn(&'i I) -> T) -> Vec<T> {
    items.iter().map(of).collect()
}

/// A count as `bigint` takes it; one that does not fit is as good as the largest, which every CHECK refuses or allows
/// alike.
pub(crate) fn bigint(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// 2000-01-01T00:00:00Z in microseconds since 1970, which PostgreSQL counts from.
const PG_EPOCH_MICROS: i64 = 946_684_800_000_000;

/// The types' numbers in `pg_type`, fixed since PostgreSQL 7.
const TIMESTAMPTZ: Oid = Oid(1184);
const TIMESTAMPTZ_ARRAY: Oid = Oid(1185);

/// An instant as a `timestamptz`. Both count microseconds, so nothing is rounded.
#[derive(Clone, Copy)]
pub(crate) struct At(pub(crate) Timestamp);

impl Type<Postgres> for At {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(TIMESTAMPTZ)
    }
}

impl PgHasArrayType for At {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(TIMESTAMPTZ_ARRAY)
    }
}

impl Encode<'_, Postgres> for At {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let since = self.0.micros().checked_sub(PG_EPOCH_MICROS).ok_or("an instant before any other")?;
        buffer.extend_from_slice(&since.to_be_bytes());
        Ok(IsNull::No)
    }
}

impl Decode<'_, Postgres> for At {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        if value.format() == PgValueFormat::Text {
            return Err("instants are read in binary".into());
        }
        let since = i64::from_be_bytes(value.as_bytes()?.try_into()?);
        let micros = since.checked_add(PG_EPOCH_MICROS).ok_or("an instant after any other")?;
        Ok(Self(Timestamp::from_micros(micros)))
    }
}
