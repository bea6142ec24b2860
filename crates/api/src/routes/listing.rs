//! Lists: where they begin, how much of them is shown, and where they go on.

use serde::Deserialize;

use crate::problem::Problem;

/// The most rows in one answer, and how many without a word.
const LIMIT_MAX: i64 = 1_000;
const LIMIT_DEFAULT: i64 = 100;

/// Where to begin and how many.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Listing {
    /// `next` of the answer before.
    cursor: Option<String>,
    /// How many, 1 to 1 000; 100 by default.
    limit: Option<i64>,
}

impl Listing {
    /// The row that the page comes after, and how many rows it may have.
    pub(super) fn page<T>(&self, parse: impl Fn(&str) -> Option<T>) -> Result<(Option<T>, i64), Problem> {
        page(self.cursor.as_deref(), self.limit, parse)
    }
}

/// As [`Listing::page`], of a list that is asked for with more than that.
pub(super) fn page<T>(
    cursor: Option<&str>,
    limit: Option<i64>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<(Option<T>, i64), Problem> {
    let limit = limit.unwrap_or(LIMIT_DEFAULT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Problem::invalid_at("limit", format!("is not from 1 to {LIMIT_MAX}: give one that is")));
    }
    match cursor.map(parse) {
        Some(None) => Err(Problem::invalid_at("cursor", "is none of ours: give `next` as it was")),
        Some(cursor) => Ok((cursor, limit)),
        None => Ok((None, limit)),
    }
}

/// A full page's last row, to go on after.
pub(super) fn next<T>(rows: &[T], limit: i64, id: impl Fn(&T) -> String) -> Option<String> {
    let full = i64::try_from(rows.len()).is_ok_and(|n| n == limit);
    rows.last().filter(|_| full).map(id)
}
