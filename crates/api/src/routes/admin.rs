//! `/v1/admin/`: what operators look at and do, each route in the file of its path.
//!
//! Every handler's first argument says which role it takes; a table in the tests holds each route to it. No
//! answer is stored on its way, and no code stands in a URL: those are written to logs.

pub(crate) mod batches;
pub(crate) mod deeds;
pub(crate) mod ledger;
mod operator;
pub(crate) mod orders;
pub(crate) mod payments;
pub(crate) mod products;
pub(crate) mod reconcile;
pub(crate) mod upload;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use axum::routing::{get, post, put};

use crate::app::App;

pub(crate) use operator::key_of;
pub(super) use operator::{Operator, Viewer};

/// What operators are answered.
pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/v1/admin/products", get(products::list))
        .route("/v1/admin/products/{sku}", get(products::show))
        .route("/v1/admin/products/{sku}", put(products::apply))
        .route("/v1/admin/products/{sku}/batches", get(batches::list))
        .route("/v1/admin/products/{sku}/batches", post(upload::upload))
        .route("/v1/admin/batches/{id}/void", post(batches::void))
        .route("/v1/admin/codes/check", post(batches::check))
        .route("/v1/admin/orders", get(orders::list))
        .route("/v1/admin/orders/{id}", get(orders::show))
        .route("/v1/admin/orders/{id}/replace", post(orders::replace))
        .route("/v1/admin/orders/{id}/refund", post(deeds::refund))
        .route("/v1/admin/orders/{id}/accept", post(deeds::accept))
        .route("/v1/admin/orders/{id}/cancel", post(deeds::cancel))
        .route("/v1/admin/payments", get(payments::list))
        .route("/v1/admin/payments/{id}/refunded", post(payments::refunded))
        .route("/v1/admin/notices", get(payments::notices))
        .route("/v1/admin/ledger", get(ledger::ledger))
        .route("/v1/admin/reconcile", get(reconcile::reconcile))
        .layer(axum::middleware::map_response(unstored))
}

async fn unstored(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
