//! What operators ask for about money.

use serde_json::Value;
use tessera_model::money::PAYMENT_MINOR_MAX;
use tessera_model::text::{Reason, Reference};

use super::fields::Fields;
use crate::problem::Problem;

/// A refund that an operator confirms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmedRefund {
    /// Its own name.
    pub reference: Reference,
    /// How much; none for all that is to be paid back.
    pub minor: Option<i64>,
    /// Why they say so.
    pub reason: Option<Reason>,
}

/// Parses `{"reason":"…"}`.
///
/// # Errors
/// A [`Problem`] that names every fault.
pub fn deed(body: Value) -> Result<Reason, Problem> {
    let mut fields = Fields::root(body)?;
    let reason = fields.text("reason", Reason::parse);
    fields.done(reason)
}

/// Parses `{"reference":"…","minor":300?,"reason":"…"?}`.
///
/// # Errors
/// A [`Problem`] that names every fault.
pub fn refunded(body: Value) -> Result<ConfirmedRefund, Problem> {
    let mut fields = Fields::root(body)?;
    let reference = fields.text("reference", Reference::parse);
    let minor = fields.optional_integer("minor", 1, PAYMENT_MINOR_MAX);
    let reason = fields.optional_text("reason", Reason::parse);
    fields.done(reference.map(|reference| ConfirmedRefund { reference, minor, reason }))
}
