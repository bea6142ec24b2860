//! `/v1/admin/payments` and below, and `/v1/admin/notices`.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use serde::Deserialize;
use tessera_model::ids::{NoticeId, PaymentId};
use tessera_model::pay::MoneyState;
use tessera_orders::refunds::RefundTold;
use tessera_store::run_alone;

use super::super::listing::{Listing, next, page};
use super::super::request::Json;
use super::{Operator, Viewer};
use crate::app::App;
use crate::deeds::refund_told;
use crate::parse;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::read::{payment, payments};
use crate::wire::{NoticeBody, NoticeList, PaymentBody, PaymentList, RefundedRequest};

/// Which payments, and where to begin.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct Asked {
    /// Only those with money in this state: `settled`, `short`, `refund_due`, `refunded` or `unmatched`.
    state: Option<String>,
    /// `next` of the answer before.
    cursor: Option<String>,
    /// How many, 1 to 1 000; 100 by default.
    limit: Option<i64>,
}

/// Payments, newest first, with where their money is.
#[utoipa::path(get, operation_id = "admin_payments", path = "/v1/admin/payments", tag = "operators",
    security(("key" = [])), params(Asked),
    responses((status = 200, description = "payments", body = PaymentList),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody)))]
pub(in crate::routes) async fn list(
    _viewer: Viewer,
    State(app): State<App>,
    Query(asked): Query<Asked>,
) -> Result<axum::Json<PaymentList>, Problem> {
    let (before, limit) = page(asked.cursor.as_deref(), asked.limit, PaymentId::parse)?;
    let state = asked.state.as_deref().map(|text| {
        let known = || MoneyState::ALL.map(MoneyState::as_str).join(", ");
        let wrong = || Problem::invalid_at("state", format!("is no state: give one of {}", known()));
        MoneyState::parse(text).ok_or_else(wrong)
    });
    let views = payments(&app.store, state.transpose()?, before, limit).await?;
    let next = next(&views, limit, |view| view.stored.payment.id.to_string());
    Ok(axum::Json(PaymentList { payments: views.iter().map(PaymentBody::from).collect(), next }))
}

/// Confirm that money of a payment that was refund due or unmatched was paid back. The same again is the same answer.
#[utoipa::path(post, operation_id = "admin_refunded", path = "/v1/admin/payments/{id}/refunded", tag = "operators",
    security(("key" = [])), params(("id" = String, Path)), request_body = RefundedRequest,
    responses((status = 200, description = "the payment", body = PaymentBody),
        (status = 400, description = "not JSON", body = ProblemBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not act", body = ProblemBody),
        (status = 404, description = "no such payment", body = ProblemBody),
        (status = 409, description = "not-refund-due: less is to be paid back; reference-reused: another refund's",
            body = ProblemBody),
        (status = 415, description = "the body is not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody),
        (status = 503, description = "try again after Retry-After seconds", body = ProblemBody)))]
pub(in crate::routes) async fn refunded(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<String>,
    Json(body): Json,
) -> Result<axum::Json<PaymentBody>, Problem> {
    let no_payment = || Problem::new(Slug::NotFound, "there is no such payment");
    let id = PaymentId::parse(&id).ok_or_else(no_payment)?;
    let parse::ConfirmedRefund { reference, minor, reason } = parse::refunded(body)?;
    let told = RefundTold::Confirmed { payment: id, reference, minor, actor: operator.actor(), reason };
    refund_told(app.desk.paid_back(told).await?)?;
    let view = payment(&app.store, id).await?.ok_or_else(no_payment)?;
    Ok(axum::Json(PaymentBody::from(&view)))
}

/// Notices that were refused or do not fit what is known, newest first, each with its reason and what arrived.
#[utoipa::path(get, operation_id = "admin_notices", path = "/v1/admin/notices", tag = "operators",
    security(("key" = [])), params(Listing),
    responses((status = 200, description = "notices", body = NoticeList),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody)))]
pub(in crate::routes) async fn notices(
    _viewer: Viewer,
    State(app): State<App>,
    Query(listing): Query<Listing>,
) -> Result<axum::Json<NoticeList>, Problem> {
    let (before, limit) = listing.page(NoticeId::parse)?;
    let store = Arc::clone(&app.store);
    let notices = run_alone(async move { store.snapshot().await?.notices_list(before, limit).await }).await?;
    let next = next(&notices, limit, |notice| notice.id.to_string());
    Ok(axum::Json(NoticeList { notices: notices.iter().map(NoticeBody::from).collect(), next }))
}
