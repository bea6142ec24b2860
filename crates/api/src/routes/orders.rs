//! `/v1/orders` and `/v1/orders/{id}`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tessera_model::ids::OrderId;
use tessera_model::keys::Token;
use tessera_model::text::IdempotencyKey;
use tessera_orders::place::PlaceOutcome;
use tessera_orders::release::{CancelOutcome, Cancellation};

use super::request::{Json, answering, buyer, prefer_wait, seen_version};
use crate::app::App;
use crate::metrics::Metrics;
use crate::parse;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::proof::Vouched;
use crate::read::OrderView;
use crate::waiting::{Ticket, Until};
use crate::wire::{OrderBody, PlaceRequest, PlacedBody};

/// How soon a client should ask again while an order is pending, in seconds.
const POLL_SECONDS: u64 = 1;

/// Place an order. A free one is `paid` at once.
#[utoipa::path(post, path = "/v1/orders", tag = "orders", security((), ("key" = []), ("customer" = [])),
    params(("Idempotency-Key" = Option<String>, Header,
        description = "8 to 128 visible ASCII characters, kept 48 h: a repeat answers with the same order")),
    request_body = PlaceRequest,
    responses(
        (status = 201, description = "placed", body = PlacedBody),
        (status = 200, description = "placed before under this key", body = PlacedBody),
        (status = 401, description = "nobody vouches for the customer", body = ProblemBody),
        (status = 403, description = "vouched for another customer, or by a key of another role", body = ProblemBody),
        (status = 404, description = "unknown or inactive sku", body = ProblemBody),
        (status = 409, description = "sold-out, limit-reached, not-a-new-customer, sale-not-open, sale-closed",
            body = ProblemBody),
        (status = 400, description = "not JSON, or a field is named twice", body = ProblemBody),
        (status = 413, description = "the body is too large", body = ProblemBody),
        (status = 415, description = "the body is not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong, or the key was used for another request", body = ProblemBody),
        (status = 503, description = "try again after Retry-After seconds", body = ProblemBody)))]
pub(super) async fn place(
    State(app): State<App>,
    vouched: Vouched,
    headers: HeaderMap,
    Json(body): Json,
) -> Result<Response, Problem> {
    let key = idempotency_key(&headers)?;
    let id = OrderId::new(app.now(), app.entropy.bytes());
    let request = parse::order(body)?;
    vouched.permits(request.customer())?;
    let new = request.into_order(id, key.as_ref())?;
    let outcome = app.desk.place(new).await?;
    answering("place")?;
    Metrics::count(&app.metrics.orders, word(&outcome));
    match outcome {
        PlaceOutcome::Placed(placed) => {
            let view =
                OrderView { order: placed.order, lines: placed.lines, portions: vec![], codes: vec![] };
            Ok(placed_response(&app, StatusCode::CREATED, &view))
        }
        PlaceOutcome::Repeated(order) => Ok(placed_response(&app, StatusCode::OK, &*app.view(order).await?)),
        PlaceOutcome::KeyReused => Err(Problem::new(
            Slug::IdempotencyKeyReused,
            "this Idempotency-Key was sent with another body: use a new key for a new order",
        )),
        PlaceOutcome::Refused(refusal) => Err(refusal.into()),
    }
}

const fn word(outcome: &PlaceOutcome) -> &'static str {
    match outcome {
        PlaceOutcome::Placed(_) => "placed",
        PlaceOutcome::Repeated(_) => "repeated",
        PlaceOutcome::KeyReused => "key_reused",
        PlaceOutcome::Refused(_) => "refused",
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Problem> {
    let Some(value) = headers.get(HeaderName::from_static("idempotency-key")) else { return Ok(None) };
    let text = value.to_str().unwrap_or("\u{1}");
    IdempotencyKey::parse(text).map(Some).map_err(|e| Problem::invalid_at("Idempotency-Key", e))
}

fn placed_response(app: &App, status: StatusCode, view: &OrderView) -> Response {
    let order = &view.order;
    let token = Token::issue(&app.keyring, order.id, order.epoch).as_str().to_owned();
    let body = PlacedBody::new(OrderBody::new(view, app.now()), token);
    let mut response = (status, axum::Json(body)).into_response();
    decorate(&mut response, view);
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/orders/{}", order.id)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// See an order. With `Prefer: wait=N` the answer comes when the codes are in it, or waiting is pointless.
#[utoipa::path(get, path = "/v1/orders/{id}", tag = "orders", security(("token" = [])),
    params(("id" = String, Path),
        ("Prefer" = Option<String>, Header, description = "wait=N, at most 30 seconds"),
        ("If-None-Match" = Option<String>, Header, description = "the version seen; 304 while it is the same")),
    responses((status = 200, description = "the order", body = OrderBody),
        (status = 304, description = "no newer version"),
        (status = 404, description = "no such order, or not its token", body = ProblemBody)))]
pub(super) async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (order, epoch) = buyer(&app, &id, &headers)?;
    let seen = seen_version(&headers);
    let until = seen.map_or(Until::Final, Until::Not);
    let view = match prefer_wait(&headers) {
        Some(most) => settled(&app, order, epoch, until, most).await?,
        None => current(&app, order, epoch).await?,
    };
    if seen == Some(view.order.version) {
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        decorate(&mut response, &view);
        return Ok(response);
    }
    Ok(order_response(&app, StatusCode::OK, &view))
}

/// Cancel an unpaid order; its claim is released.
#[utoipa::path(post, path = "/v1/orders/{id}/cancel", tag = "orders", security(("token" = [])),
    params(("id" = String, Path)),
    responses((status = 200, description = "cancelled, now or before", body = OrderBody),
        (status = 404, description = "no such order, or not its token", body = ProblemBody),
        (status = 409, description = "order-not-cancellable", body = ProblemBody)))]
pub(super) async fn cancel(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (order, epoch) = buyer(&app, &id, &headers)?;
    let outcome = app.desk.cancel(Cancellation { order, epoch }).await?;
    answering("cancel")?;
    match outcome {
        CancelOutcome::Cancelled => {
            Ok(order_response(&app, StatusCode::OK, &*current(&app, order, epoch).await?))
        }
        CancelOutcome::NotFound => Err(Problem::no_order()),
        CancelOutcome::NotCancellable(status) => Err(Problem::new(
            Slug::OrderNotCancellable,
            format!("the order is {status}: only one that awaits payment can be cancelled"),
        )),
    }
}

/// The order as it is now, to whom its token belongs.
pub(super) async fn current(app: &App, order: OrderId, epoch: i32) -> Result<Arc<OrderView>, Problem> {
    let view = app.view(order).await?;
    if view.order.epoch == epoch { Ok(view) } else { Err(Problem::no_order()) }
}

/// The order once it is what is waited for, or as it is when the time is over.
async fn settled(
    app: &App,
    order: OrderId,
    epoch: i32,
    until: Until,
    most: Duration,
) -> Result<Arc<OrderView>, Problem> {
    // The place is taken before the look, so that no wake-up falls between.
    let ticket = app.waiters.enter(order, until);
    let view = current(app, order, epoch).await?;
    if until.holds(&view) || most.is_zero() {
        return Ok(view);
    }
    match ticket.wait(most, &app.stop).await {
        Some(view) => Ok(view),
        // As it was: thousands that are read anew would hold up the stop.
        None if app.stop.is_cancelled() => Ok(view),
        None => current(app, order, epoch).await,
    }
}

/// The order as a wake-up brings it, or as it is when the time is over.
pub(super) async fn woken(
    app: &App,
    order: OrderId,
    epoch: i32,
    ticket: Ticket,
    most: Duration,
) -> Result<Arc<OrderView>, Problem> {
    match ticket.wait(most, &app.stop).await {
        Some(view) => Ok(view),
        None => current(app, order, epoch).await,
    }
}

/// The order as JSON, with the headers every answer about one has.
pub(super) fn order_response(app: &App, status: StatusCode, view: &OrderView) -> Response {
    let mut response = (status, axum::Json(OrderBody::new(view, app.now()))).into_response();
    decorate(&mut response, view);
    response
}

fn decorate(response: &mut Response, view: &OrderView) {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    if let Ok(tag) = HeaderValue::from_str(&format!("W/\"{}\"", view.order.version)) {
        headers.insert(header::ETAG, tag);
    }
    if !view.is_final() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(POLL_SECONDS));
    }
}
