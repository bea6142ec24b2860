//! `/v1/admin/orders` and below.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use serde::Deserialize;
use tessera_backoffice::cards;
use tessera_issuer::Replacement;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::replace::{CannotReplace, Faulty};
use tessera_model::text::{CustomerId, Reference};
use tessera_model::time::Timestamp;
use tessera_orders::Failure;
use tessera_store::orders::{OrderFilter, STUCK_AFTER};
use tessera_store::run_alone;

use super::super::listing::{next, page};
use super::super::request::Json;
use super::ledger::id;
use super::{Operator, Viewer};
use crate::app::App;
use crate::instant::timestamp;
use crate::parse;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::read::{OrderView, history, load_in, load_listed};
use crate::wire::{AdminOrderBody, OrderBody, OrderList, ReplaceRequest, ReplacedBody};

/// Which orders, and where to begin. All parts have to hold.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct Asked {
    /// Only this one.
    id: Option<String>,
    /// Only of this customer, however it is written.
    customer: Option<String>,
    /// Only those with a payment of this reference.
    reference: Option<String>,
    /// Only the one that has or had this code. URLs are written to logs: `codes/check` takes it in a body.
    code: Option<String>,
    /// Only in this state.
    state: Option<String>,
    /// Only those placed then or later, RFC 3339.
    from: Option<String>,
    /// Only those placed before then.
    to: Option<String>,
    /// Only those that were paid a minute ago and have no codes, or that have a dead letter.
    stuck: Option<bool>,
    /// `next` of the answer before.
    cursor: Option<String>,
    /// How many, 1 to 1 000; 100 by default.
    limit: Option<i64>,
}

/// Orders, newest first, without their codes.
#[utoipa::path(get, operation_id = "admin_orders", path = "/v1/admin/orders", tag = "operators",
    security(("key" = [])), params(Asked),
    responses((status = 200, description = "orders", body = OrderList),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody)))]
pub(in crate::routes) async fn list(
    _viewer: Viewer,
    State(app): State<App>,
    Query(asked): Query<Asked>,
) -> Result<axum::Json<OrderList>, Problem> {
    let (before, limit) = page(asked.cursor.as_deref(), asked.limit, OrderId::parse)?;
    let mut filter = OrderFilter { before, ..filter(&asked, app.now())? };
    if let Some(code) = &asked.code {
        let found = cards::find(&app.store, &app.keyring, code).await?.and_then(|found| found.owner);
        match found {
            Some(owner) if filter.id.is_none_or(|id| id == owner.order) => filter.id = Some(owner.order),
            Some(_) | None => return Ok(axum::Json(OrderList { orders: vec![], next: None })),
        }
    }
    let store = Arc::clone(&app.store);
    let views = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let orders = tx.orders_list(&filter, limit).await?;
        load_listed(&mut *tx, orders).await
    })
    .await?;
    let (next, now) = (next(&views, limit, |view| view.order.id.to_string()), app.now());
    Ok(axum::Json(OrderList { orders: views.iter().map(|view| OrderBody::new(view, now)).collect(), next }))
}

fn filter(asked: &Asked, now: Timestamp) -> Result<OrderFilter, Problem> {
    let known = || OrderStatus::ALL.map(OrderStatus::as_str).join(", ");
    let status = |text: &str| {
        let wrong = || Problem::invalid_at("state", format!("is no state: give one of {}", known()));
        OrderStatus::parse(text).ok_or_else(wrong)
    };
    let customer = asked.customer.as_deref().map(CustomerId::parse).transpose();
    let reference = asked.reference.as_deref().map(Reference::parse).transpose();
    Ok(OrderFilter {
        id: id("id", asked.id.as_deref(), OrderId::parse)?,
        status: asked.state.as_deref().map(status).transpose()?,
        customer: customer.map_err(|e| Problem::invalid_at("customer", e))?,
        reference: reference.map_err(|e| Problem::invalid_at("reference", e))?,
        from: instant("from", asked.from.as_deref())?,
        to: instant("to", asked.to.as_deref())?,
        stuck: asked.stuck.unwrap_or(false).then(|| now.minus(STUCK_AFTER)),
        before: None,
    })
}

fn instant(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let wrong = || Problem::invalid_at(name, "is no instant: give RFC 3339, such as 2026-11-30T12:00:00Z");
    text.map(|text| timestamp(text).ok_or_else(wrong)).transpose()
}

fn no_order() -> Problem {
    Problem::new(Slug::NotFound, CannotReplace::NoOrder.to_string())
}

/// One order with its codes and all that happened to it. That its codes were read is an audit entry.
#[utoipa::path(get, operation_id = "admin_order", path = "/v1/admin/orders/{id}", tag = "operators",
    security(("key" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "the order", body = AdminOrderBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody),
        (status = 404, description = "no such order", body = ProblemBody)))]
pub(in crate::routes) async fn show(
    viewer: Viewer,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<axum::Json<AdminOrderBody>, Problem> {
    let id = OrderId::parse(&id).ok_or_else(no_order)?;
    let (store, keyring) = (Arc::clone(&app.store), Arc::clone(&app.keyring));
    let (view, happened) = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let Some(view) = load_in(&mut *tx, &keyring, &[id]).await?.remove(&id) else { return Ok(None) };
        let happened = history(&mut *tx, &view.order).await?;
        Ok(Some((view, happened)))
    })
    .await?
    .ok_or_else(no_order)?;
    if !view.codes.is_empty() {
        cards::codes_read(&app.store, id, viewer.actor()).await?;
    }
    Ok(axum::Json(AdminOrderBody::new(OrderBody::new(&view, app.now()), &happened)))
}

/// Give other codes in the place of those that do not work; the old ones stay on the order, marked.
#[utoipa::path(post, operation_id = "admin_replace", path = "/v1/admin/orders/{id}/replace", tag = "operators",
    security(("key" = [])), params(("id" = String, Path)), request_body = ReplaceRequest,
    responses((status = 200, description = "replaced", body = ReplacedBody),
        (status = 400, description = "not JSON", body = ProblemBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not act", body = ProblemBody),
        (status = 404, description = "no such order", body = ProblemBody),
        (status = 409, description = "not issued, replaced before, a raffle, or nothing to give", body = ProblemBody),
        (status = 415, description = "the body is not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody)))]
pub(in crate::routes) async fn replace(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<String>,
    Json(body): Json,
) -> Result<axum::Json<ReplacedBody>, Problem> {
    let order = OrderId::parse(&id).ok_or_else(no_order)?;
    let parse::ReplaceRequest { line, positions, reason, force } = parse::replace(body)?;
    let faulty = Faulty { order, line, positions, force };
    let wish = Replacement { faulty, actor: operator.actor(), reason: reason.to_string() };
    let outcome = cards::replace(&app.store, wish).await.map_err(Failure::Set)?;
    let positions = outcome.map_err(refused)?;
    let view: Arc<OrderView> = app.view(order).await?;
    // The answer shows the order's codes.
    cards::codes_read(&app.store, order, operator.actor()).await?;
    Ok(axum::Json(ReplacedBody { line, positions, order: OrderBody::new(&view, app.now()) }))
}

fn refused(why: CannotReplace) -> Problem {
    match why {
        CannotReplace::NoOrder => no_order(),
        CannotReplace::NoLine(_) => Problem::invalid_at("/line", why),
        CannotReplace::NoPosition { .. } | CannotReplace::Count => Problem::invalid_at("/positions", why),
        CannotReplace::NotIssued(_)
        | CannotReplace::Replaced(_)
        | CannotReplace::Raffle
        | CannotReplace::NoStock { .. } => Problem::new(Slug::Conflict, why.to_string()),
    }
}
