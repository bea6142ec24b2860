//! `/v1/admin/reconcile`.

use std::sync::Arc;

use axum::extract::State;
use tessera_issuer::rounds;
use tessera_store::run_alone;

use super::Viewer;
use crate::app::App;
use crate::problem::{Problem, ProblemBody};
use crate::wire::ReconcileBody;

/// Prove every balance from the tables, in one snapshot.
#[utoipa::path(get, operation_id = "admin_reconcile", path = "/v1/admin/reconcile", tag = "operators", security(("key" = [])),
    responses((status = 200, description = "each balance, with the rows at fault", body = ReconcileBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody)))]
pub(in crate::routes) async fn reconcile(
    _viewer: Viewer,
    State(app): State<App>,
) -> Result<axum::Json<ReconcileBody>, Problem> {
    let store = Arc::clone(&app.store);
    let checks = run_alone(async move { rounds::reconcile(&mut *store.snapshot().await?).await }).await?;
    Ok(axum::Json(ReconcileBody::new(&checks)))
}
