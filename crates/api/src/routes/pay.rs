//! `/v1/orders/{id}/pay`.

use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tessera_model::ids::{OrderId, PaymentId};
use tessera_orders::pay::{Incoming, PayOutcome, TEST_PROVIDER, TestPayment};

use super::orders::{current, order_response, woken};
use super::request::{Json, answering, buyer, prefer_wait};
use crate::app::App;
use crate::metrics::Metrics;
use crate::parse::Fields;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::waiting::{Ticket, Until};
use crate::wire::{OrderBody, PayRequest};

/// Pay an order by a provider. `test` settles at once; with `Prefer: wait=N` the codes are in the answer.
#[utoipa::path(post, path = "/v1/orders/{id}/pay", tag = "orders", security(("token" = [])),
    params(("id" = String, Path), ("Prefer" = Option<String>, Header, description = "wait=N, at most 30 seconds")),
    request_body = PayRequest,
    responses((status = 200, description = "the codes are in it, or the state is final", body = OrderBody),
        (status = 202, description = "taken; the codes follow", body = OrderBody),
        (status = 404, description = "no such order, or not its token", body = ProblemBody),
        (status = 409, description = "order-not-payable", body = ProblemBody),
        (status = 422, description = "no provider that is paid here", body = ProblemBody),
        (status = 503, description = "try again after Retry-After seconds", body = ProblemBody)))]
pub(super) async fn pay(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json,
) -> Result<Response, Problem> {
    let (order, epoch) = buyer(&app, &id, &headers)?;
    provider(&app, body)?;
    // Whoever waits takes a place before paying, so that the issuer's wake-up finds it.
    let wait = prefer_wait(&headers).map(|most| (app.waiters.enter(order, Until::Final), most));
    let payment = PaymentId::new(app.now(), app.entropy.bytes());
    let outcome = app.desk.pay(Incoming::Test(TestPayment { payment, order, epoch })).await?;
    answering("pay")?;
    match outcome {
        PayOutcome::Taken { outcome, paid, .. } => {
            Metrics::count(&app.metrics.payments, outcome.as_str());
            answer(&app, order, epoch, wait, paid.is_some()).await
        }
        PayOutcome::NotFound => Err(Problem::no_order()),
        PayOutcome::NotPayable(status) => not_payable(status.as_str()),
        PayOutcome::Late => not_payable("past paying"),
    }
}

fn not_payable(status: &str) -> Result<Response, Problem> {
    Err(Problem::new(Slug::OrderNotPayable, format!("the order is {status}: place a new one")))
}

/// The provider of the body, which has to be one that is paid here.
fn provider(app: &App, body: serde_json::Value) -> Result<(), Problem> {
    let mut fields = Fields::root(body)?;
    let known = |text: &str| match text {
        TEST_PROVIDER if app.payments.test => Ok(()),
        _ if app.payments.test => Err("is no provider that is paid here: give test"),
        _ => Err("is no provider that is paid here: pay at the provider's own page"),
    };
    let provider = fields.text("provider", known);
    fields.done(provider)
}

async fn answer(
    app: &App,
    order: OrderId,
    epoch: i32,
    wait: Option<(Ticket, Duration)>,
    just_paid: bool,
) -> Result<Response, Problem> {
    let view = match wait {
        // Just paid: the issuer's wake-up, or a re-check, brings it.
        Some((ticket, most)) if just_paid => woken(app, order, epoch, ticket, most).await?,
        // Paid before: it may be there already.
        Some((ticket, most)) => {
            let view = current(app, order, epoch).await?;
            if view.is_final() { view } else { woken(app, order, epoch, ticket, most).await? }
        }
        None => current(app, order, epoch).await?,
    };
    let status = if view.is_final() { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok(order_response(app, status, &view))
}
