//! How a process is: alive, ready, and what it counted. Served with the API, or by itself where there is none.

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::get;
use tessera_store::Store;
use tokio::sync::watch;

use crate::app::App;
use crate::metrics::Metrics;
use crate::problem::{Problem, Slug};
use crate::routes::health;

/// What has to be ready before the process is, by name.
pub type Readiness = Vec<(&'static str, watch::Receiver<bool>)>;

/// What tells how a process is. Cheap to clone.
#[derive(Clone)]
pub struct Ops {
    /// The database that has to answer.
    pub store: Arc<dyn Store>,
    /// What else has to be ready.
    pub readiness: Arc<Readiness>,
    /// What was counted.
    pub metrics: Arc<Metrics>,
}

impl FromRef<App> for Ops {
    fn from_ref(app: &App) -> Self {
        app.ops.clone()
    }
}

/// `/healthz`, `/readyz` and `/metrics` alone.
pub fn ops_router(ops: Ops) -> Router {
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .fallback(|| async { Problem::new(Slug::NotFound, "there is no such path") })
        .with_state(ops)
}
