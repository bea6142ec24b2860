//! Which refund notices fit what is known, and what is written of those that do not.

use tessera_store::refunds::StoredPayment;

use super::RefundNotice;

/// The payment that a notice is about.
///
/// # Errors
/// Why it does not fit, for operators.
pub(super) fn fits<'s>(
    said: &RefundNotice,
    stored: Option<&'s StoredPayment>,
) -> Result<&'s StoredPayment, String> {
    let Some(stored) = stored else { return Err("refund of a payment that is not known".to_owned()) };
    let (known, told) = (stored.payment.amount.currency, said.amount.currency);
    if known != told {
        return Err(format!("refund in {told} of payment {} in {known}", stored.payment.id));
    }
    match &said.order {
        Some(order) if *order != stored.payment.order_reference => {
            Err(format!("refund of payment {} for another order than it was paid for", stored.payment.id))
        }
        Some(_) | None => Ok(stored),
    }
}

pub(super) fn too_much(said: &RefundNotice, left: i64) -> String {
    format!(
        "refund of {} {}, of which {left} found no money to leave",
        said.amount.minor, said.amount.currency
    )
}

pub(super) fn reused(said: &RefundNotice) -> String {
    format!("refund under a known id came again with {} {}", said.amount.minor, said.amount.currency)
}
