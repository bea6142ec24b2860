//! Payment notices of the `hmac` provider.

use serde_json::Value;
use tessera_model::money::{Money, PAYMENT_MINOR_MAX};
use tessera_model::text::{OrderReference, Reference};
use tessera_model::time::Timestamp;

use super::fields::Fields;
use crate::problem::Problem;

/// A notice, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Money arrived.
    Settled(SettledNotice),
    /// Money went back.
    Refunded(RefundedNotice),
    /// Something else is said of a payment.
    Other(NoticeKind),
}

/// Money of a payment that went back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundedNotice {
    /// The provider's name for the payment.
    pub reference: Reference,
    /// The order, if they say.
    pub order: Option<OrderReference>,
    /// How much.
    pub amount: Money,
}

/// Money that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledNotice {
    /// The provider's name for it.
    pub reference: Reference,
    /// The order, as they write it.
    pub order: OrderReference,
    /// How much.
    pub amount: Money,
    /// When, as they say.
    pub paid_at: Option<Timestamp>,
}

/// Notices that settle nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// Under way or failed: of no consequence.
    Unsettled,
    /// The buyer disputes it: for an operator to see.
    Disputed,
    /// A type this program does not know.
    Unknown,
}

/// Parses `{"type","reference","order_id","amount","paid_at"}`.
///
/// # Errors
/// A [`Problem`] that names every fault.
pub fn notice(body: Value) -> Result<Notice, Problem> {
    let mut fields = Fields::root(body)?;
    let kind = fields.text("type", |t| Ok::<_, &str>(t.to_owned()));
    match kind.as_deref() {
        Some("payment.settled") | None => settled(fields),
        Some("payment.pending" | "payment.processing" | "payment.failed") => {
            Ok(Notice::Other(NoticeKind::Unsettled))
        }
        Some("payment.refunded") => refunded(fields),
        Some("payment.disputed") => Ok(Notice::Other(NoticeKind::Disputed)),
        Some(_) => Ok(Notice::Other(NoticeKind::Unknown)),
    }
}

fn settled(mut fields: Fields) -> Result<Notice, Problem> {
    let reference = fields.text("reference", Reference::parse);
    let order = fields.text("order_id", OrderReference::parse);
    let amount = fields.money("amount", 1, PAYMENT_MINOR_MAX);
    let paid_at = fields.optional_instant("paid_at");
    let parsed = || Some(SettledNotice { reference: reference?, order: order?, amount: amount?, paid_at });
    let parsed = parsed();
    fields.done(parsed).map(Notice::Settled)
}

fn refunded(mut fields: Fields) -> Result<Notice, Problem> {
    let reference = fields.text("reference", Reference::parse);
    let order = fields.optional_text("order_id", OrderReference::parse);
    let amount = fields.money("amount", 1, PAYMENT_MINOR_MAX);
    // When it went back is of no consequence, but has to be a time.
    fields.optional_instant("paid_at");
    let parsed = || Some(RefundedNotice { reference: reference?, order, amount: amount? });
    let parsed = parsed();
    fields.done(parsed).map(Notice::Refunded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn odd_amounts_are_refused() {
        for minor in [
            json!([1]),
            json!(""),
            json!("68"),
            json!("NaN"),
            json!(1e2),
            json!(-68),
            json!(68.001),
            json!(0),
        ] {
            let body = json!({"type": "payment.settled", "reference": "r", "order_id": "o",
                "amount": {"minor": minor, "currency": "CNY"}});
            assert!(notice(body).is_err());
        }
    }

    #[test]
    fn a_refund_names_its_payment_and_an_amount() {
        let refund = |reference: Value, minor: Value| {
            let amount = json!({ "minor": minor, "currency": "CNY" });
            notice(json!({"type": "payment.refunded", "reference": reference, "amount": amount}))
        };
        assert!(matches!(refund(json!("r"), json!(5)), Ok(Notice::Refunded(_))));
        for (reference, minor) in [(json!(null), json!(5)), (json!("r"), json!(0)), (json!("r"), json!("5"))]
        {
            assert!(refund(reference, minor).is_err());
        }
    }

    #[test]
    fn unsettled_notices_need_nothing_but_their_type() {
        for kind in ["payment.pending", "payment.processing", "payment.failed"] {
            assert_eq!(notice(json!({ "type": kind })).unwrap(), Notice::Other(NoticeKind::Unsettled));
        }
        assert_eq!(notice(json!({"type": "customer.created"})).unwrap(), Notice::Other(NoticeKind::Unknown));
        assert!(notice(json!({})).is_err());
    }
}
