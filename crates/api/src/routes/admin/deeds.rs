//! `/v1/admin/orders/{id}/refund|accept|cancel`.

use std::sync::Arc;

use axum::extract::{Path, State};
use tessera_model::ids::OrderId;
use tessera_orders::operators::{By, DeedOutcome, Wish};
use tessera_store::run_alone;

use super::super::request::Json;
use super::Operator;
use crate::app::App;
use crate::deeds::Deed;
use crate::parse;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::read::load_listed;
use crate::wire::{DeedRequest, OrderBody};

/// Make all money of a paid order due back; it gets no codes any more. Again is the same answer.
#[utoipa::path(post, operation_id = "admin_refund", path = "/v1/admin/orders/{id}/refund", tag = "operators",
    security(("key" = [])), params(("id" = String, Path)), request_body = DeedRequest,
    responses((status = 200, description = "all of its money is due back; without its codes", body = OrderBody),
        (status = 400, description = "not JSON", body = ProblemBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not act", body = ProblemBody),
        (status = 404, description = "no such order", body = ProblemBody),
        (status = 409, description = "order-not-refundable: not paid, or shares that are final", body = ProblemBody),
        (status = 415, description = "the body is not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody),
        (status = 503, description = "try again after Retry-After seconds", body = ProblemBody)))]
pub(in crate::routes) async fn refund(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<String>,
    Json(body): Json,
) -> Result<axum::Json<OrderBody>, Problem> {
    let wish = wish(&operator, &id, body)?;
    let order = wish.order;
    answer(&app, Deed::Refund, order, app.desk.refund(wish).await?).await
}

/// Take what was paid for an order as enough: short money, or what was to be paid back of one that was released.
#[utoipa::path(post, operation_id = "admin_accept", path = "/v1/admin/orders/{id}/accept", tag = "operators",
    security(("key" = [])), params(("id" = String, Path)), request_body = DeedRequest,
    responses((status = 200, description = "paid; the codes follow; without its codes", body = OrderBody),
        (status = 400, description = "not JSON", body = ProblemBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not act", body = ProblemBody),
        (status = 404, description = "no such order", body = ProblemBody),
        (status = 409, description = "order-not-acceptable: nothing paid, or no need; sold-out: what it held went to others", body = ProblemBody),
        (status = 415, description = "the body is not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody),
        (status = 503, description = "try again after Retry-After seconds", body = ProblemBody)))]
pub(in crate::routes) async fn accept(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<String>,
    Json(body): Json,
) -> Result<axum::Json<OrderBody>, Problem> {
    let wish = wish(&operator, &id, body)?;
    let order = wish.order;
    answer(&app, Deed::Accept, order, app.desk.accept(wish).await?).await
}

/// Cancel an order that is not paid. Again is the same answer.
#[utoipa::path(post, operation_id = "admin_cancel", path = "/v1/admin/orders/{id}/cancel", tag = "operators",
    security(("key" = [])), params(("id" = String, Path)), request_body = DeedRequest,
    responses((status = 200, description = "cancelled; without its codes", body = OrderBody),
        (status = 400, description = "not JSON", body = ProblemBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not act", body = ProblemBody),
        (status = 404, description = "no such order", body = ProblemBody),
        (status = 409, description = "order-not-cancellable: paid, or released already", body = ProblemBody),
        (status = 415, description = "the body is not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody),
        (status = 503, description = "try again after Retry-After seconds", body = ProblemBody)))]
pub(in crate::routes) async fn cancel(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<String>,
    Json(body): Json,
) -> Result<axum::Json<OrderBody>, Problem> {
    let wish = wish(&operator, &id, body)?;
    let order = wish.order;
    answer(&app, Deed::Cancel, order, app.desk.cancel_for(wish).await?).await
}

fn no_order() -> Problem {
    Problem::new(Slug::NotFound, "there is no such order")
}

fn wish(operator: &Operator, id: &str, body: serde_json::Value) -> Result<Wish, Problem> {
    let order = OrderId::parse(id).ok_or_else(no_order)?;
    let by = By { actor: operator.actor(), reason: parse::deed(body)? };
    Ok(Wish { order, by })
}

/// The order as it is then. Its codes are not shown: that would be a read of them for the audit log.
async fn answer(
    app: &App,
    deed: Deed,
    order: OrderId,
    outcome: DeedOutcome,
) -> Result<axum::Json<OrderBody>, Problem> {
    deed.done(outcome)?;
    let store = Arc::clone(&app.store);
    let view = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let orders = tx.orders_read(&[order]).await?;
        Ok(load_listed(&mut *tx, orders).await?.pop())
    })
    .await?;
    let view = view.ok_or_else(no_order)?;
    Ok(axum::Json(OrderBody::new(&view, app.now())))
}
