//! What operators ask for.

use std::collections::BTreeSet;

use serde_json::Value;
use tessera_model::replace::REPLACED_MAX;
use tessera_model::text::Reason;

use super::fields::Fields;
use crate::problem::Problem;

/// The most characters of a code.
const CODE_CHARS_MAX: usize = 4_096;

/// A wish to void codes of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoidRequest {
    /// Why.
    pub reason: Reason,
    /// Which positions; all that nobody has, if none are named.
    pub positions: Option<BTreeSet<i64>>,
    /// Whether what pending orders claim may be taken.
    pub force: bool,
}

/// A wish to replace codes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplaceRequest {
    /// The line's number.
    pub line: i32,
    /// Which of its codes.
    pub positions: BTreeSet<i64>,
    /// Why.
    pub reason: Reason,
    /// Whether what pending orders claim may be given.
    pub force: bool,
}

/// Parses `{"reason":"…","positions":[3]?,"force":false?}`.
///
/// # Errors
/// A [`Problem`] that names every fault.
pub fn void(body: Value) -> Result<VoidRequest, Problem> {
    let mut fields = Fields::root(body)?;
    let reason = fields.text("reason", Reason::parse);
    let positions = match fields.take("positions") {
        Some(value) => positions(&mut fields, &value, 0).map(Some),
        None => Some(None),
    };
    let force = fields.switch("force", false);
    let request = reason.zip(positions).map(|(reason, positions)| VoidRequest { reason, positions, force });
    fields.done(request)
}

/// Parses `{"line":1?,"positions":[3],"reason":"…","force":false?}`.
///
/// # Errors
/// A [`Problem`] that names every fault.
pub fn replace(body: Value) -> Result<ReplaceRequest, Problem> {
    let mut fields = Fields::root(body)?;
    let line = fields.optional_integer("line", 1, i32::MAX.into()).unwrap_or(1);
    let named = fields.require("positions").and_then(|value| positions(&mut fields, &value, 1));
    let reason = fields.text("reason", Reason::parse);
    let force = fields.switch("force", false);
    let line = i32::try_from(line).unwrap_or(i32::MAX);
    let request =
        named.zip(reason).map(|(positions, reason)| ReplaceRequest { line, positions, reason, force });
    fields.done(request)
}

/// Parses `{"code":"…"}`.
///
/// # Errors
/// A [`Problem`] that does not quote it.
pub fn code(body: Value) -> Result<String, Problem> {
    let mut fields = Fields::root(body)?;
    let code = fields.text("code", |text| match text.chars().count() {
        1..=CODE_CHARS_MAX => Ok(text.to_owned()),
        0 => Err("is empty: give a code"),
        _ => Err("is longer than any code: give one code"),
    });
    fields.done(code)
}

fn positions(fields: &mut Fields, value: &Value, least: i64) -> Option<BTreeSet<i64>> {
    let items = value.as_array().filter(|items| (1..=REPLACED_MAX).contains(&items.len()));
    let number = |item: &Value| item.as_i64().filter(|n| *n >= least);
    let positions = items.and_then(|items| items.iter().map(number).collect());
    if positions.is_none() {
        fields.fault(
            "positions",
            format!("is not a list of 1 to {REPLACED_MAX} whole numbers from {least}: give one"),
        );
    }
    positions
}
