//! `/healthz`, `/readyz`, `/metrics`.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::ops::Ops;

/// The process lives.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, description = "alive")))]
pub(crate) async fn healthz() -> Response {
    axum::Json(json!({ "alive": true })).into_response()
}

/// The process can do its work: the database answers and each of its roles is ready.
#[utoipa::path(get, path = "/readyz", tag = "operation",
    responses((status = 200, description = "ready"), (status = 503, description = "not ready; says what is not")))]
pub(crate) async fn readyz(State(ops): State<Ops>) -> Response {
    let database = ops.store.ping().await.is_ok();
    let mut checks = vec![json!({ "name": "database", "ok": database })];
    let mut ready = database;
    for (name, is_ready) in ops.readiness.iter() {
        let ok = *is_ready.borrow();
        ready &= ok;
        checks.push(json!({ "name": name, "ok": ok }));
    }
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, axum::Json(json!({ "ready": ready, "checks": checks }))).into_response()
}

/// Counters, as OpenMetrics text.
#[utoipa::path(get, path = "/metrics", tag = "operation", responses((status = 200, description = "counters")))]
pub(crate) async fn metrics(State(ops): State<Ops>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], ops.metrics.text()).into_response()
}
