//! Payments and kept notices as JSON, for operators.

use serde::Serialize;
use tessera_store::payments::Notice;

use super::MoneyBody;
use crate::instant::rfc3339;
use crate::read::PaymentView;

/// A payment.
///
/// ```json
/// {"id":"0193…","provider":"hmac","reference":"T-1","order_id":"0193…","order_reference":"0193…",
///  "amount":{"minor":1300,"currency":"CNY"},"portions":[{"state":"settled","minor":1000},
///  {"state":"refund_due","minor":300}],"paid_at":"…","received_at":"…","reason":"over"}
/// ```
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct PaymentBody {
    /// Its id.
    id: String,
    /// Who took it.
    #[schema(example = "hmac")]
    provider: String,
    /// The provider's name for it.
    reference: String,
    /// The order it was matched with.
    order_id: Option<String>,
    /// The order as the notice wrote it.
    order_reference: String,
    /// What arrived.
    amount: MoneyBody,
    /// Where the money is; adds up to the amount.
    portions: Vec<PaymentPortionBody>,
    /// When it was paid, as the provider says.
    paid_at: Option<String>,
    /// When it came.
    received_at: String,
    /// Why a person has to look.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "over")]
    reason: Option<&'static str>,
}

/// A part of a payment's money.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct PaymentPortionBody {
    /// `settled`, `short`, `refund_due`, `refunded` or `unmatched`.
    #[schema(example = "settled")]
    state: &'static str,
    /// Minor units of the payment's currency.
    minor: i64,
}

impl From<&PaymentView> for PaymentBody {
    fn from(view: &PaymentView) -> Self {
        let (stored, payment) = (&view.stored, &view.stored.payment);
        let portions = view.portions.iter();
        Self {
            id: payment.id.to_string(),
            provider: payment.provider.to_string(),
            reference: payment.reference.to_string(),
            order_id: stored.order.map(|order| order.to_string()),
            order_reference: payment.order_reference.to_string(),
            amount: payment.amount.into(),
            portions: portions
                .map(|(state, minor)| PaymentPortionBody { state: state.as_str(), minor: *minor })
                .collect(),
            paid_at: payment.paid_at.map(rfc3339),
            received_at: rfc3339(stored.received_at),
            reason: stored.reason.map(tessera_model::pay::PaymentReason::as_str),
        }
    }
}

/// Payments, newest first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct PaymentList {
    /// The payments.
    pub payments: Vec<PaymentBody>,
    /// The cursor of the next page; none at the end.
    pub next: Option<String>,
}

/// Kept notices, newest first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct NoticeList {
    /// The notices.
    pub notices: Vec<NoticeBody>,
    /// The cursor of the next page; none at the end.
    pub next: Option<String>,
}

/// Why an operator does it.
#[derive(utoipa::ToSchema)]
#[schema(example = json!({"reason": "the buyer asked for it"}))]
pub(crate) struct DeedRequest {
    /// For the audit log, 1 to 500 characters.
    #[expect(dead_code, reason = "a shape")]
    reason: String,
}

/// That a payment was paid back.
#[derive(utoipa::ToSchema)]
#[schema(example = json!({"reference": "B-1", "minor": 300}))]
pub(crate) struct RefundedRequest {
    /// The refund's own name, 1 to 128 characters; the same again changes nothing.
    #[expect(dead_code, reason = "a shape")]
    reference: String,
    /// How much, in minor units; all that is to be paid back if not given.
    #[expect(dead_code, reason = "a shape")]
    minor: Option<i64>,
    /// For the audit log.
    #[expect(dead_code, reason = "a shape")]
    reason: Option<String>,
}

/// A notice that was refused, or does not fit what is known.
///
/// ```json
/// {"id":"0193…","provider":"hmac","reason":"bad signature","body":"{\"type\":…","received_at":"…"}
/// ```
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct NoticeBody {
    /// Its id.
    id: String,
    /// Whose it claims to be.
    #[schema(example = "hmac")]
    provider: String,
    /// What is wrong with it.
    #[schema(example = "bad signature")]
    reason: String,
    /// What arrived, as text; what is no UTF-8 is replaced.
    body: String,
    /// When.
    received_at: String,
}

impl From<&Notice> for NoticeBody {
    fn from(notice: &Notice) -> Self {
        Self {
            id: notice.id.to_string(),
            provider: notice.provider.to_string(),
            reason: notice.reason.clone(),
            body: String::from_utf8_lossy(&notice.body).into_owned(),
            received_at: rfc3339(notice.received_at),
        }
    }
}
