//! Notices that money went back.
//!
//! `reference` names the payment, and the `webhook-id` the refund: Standard Webhooks repeat it with a notice that is sent
//! again, and give each event another. So a repeat moves nothing, and two refunds of one amount are two.

use axum::body::Bytes;
use tessera_model::ids::NoticeId;
use tessera_model::pay::PaymentOutcome;
use tessera_model::text::Reference;
use tessera_orders::Failure;
use tessera_orders::refunds::{RefundNotice, RefundOutcome, RefundTold};
use tessera_store::SetFault;

use super::{hmac_provider, refuse};
use crate::app::App;
use crate::parse::RefundedNotice;
use crate::problem::Problem;

/// Takes a refund that is told, or keeps the notice.
pub(super) async fn refund(
    app: &App,
    said: RefundedNotice,
    id: &str,
    bytes: &Bytes,
) -> Result<PaymentOutcome, Problem> {
    let message = match Reference::parse(id) {
        Ok(message) => message,
        Err(fault) => {
            let problem = Problem::invalid_at("webhook-id", fault);
            return Err(refuse(app, bytes, "malformed", problem).await);
        }
    };
    let notice = RefundNotice {
        provider: hmac_provider()?,
        payment: said.reference,
        message,
        amount: said.amount,
        order: said.order,
        notice: NoticeId::new(app.now(), app.entropy.bytes()),
        body: bytes.to_vec(),
    };
    match app.desk.paid_back(RefundTold::Notice(notice)).await {
        Ok(outcome) => Ok(answer(app, outcome)),
        // It fails however often it is sent, and money went: an operator has to see it.
        Err(failure @ Failure::Set(SetFault::Data(_))) => {
            Err(refuse(app, bytes, "could not be stored", failure.into()).await)
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Counts it and says what became of it.
fn answer(app: &App, outcome: RefundOutcome) -> PaymentOutcome {
    match outcome {
        RefundOutcome::Repeated(_) => return PaymentOutcome::Duplicate,
        RefundOutcome::Kept { fits: true, .. } => app.metrics.alert("refund"),
        RefundOutcome::Kept { .. }
        | RefundOutcome::Recorded
        | RefundOutcome::NotFound
        | RefundOutcome::TooMuch { .. }
        | RefundOutcome::ReferenceReused => app.metrics.alert("refund_does_not_fit"),
    }
    PaymentOutcome::Recorded
}
