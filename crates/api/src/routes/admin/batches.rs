//! `/v1/admin/products/{sku}/batches`, `/v1/admin/batches/{id}/void` and `/v1/admin/codes/check`.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use tessera_backoffice::cards::{self, What, Wish};
use tessera_model::ids::BatchId;
use tessera_model::text::Sku;
use tessera_model::void::CannotVoid;
use tessera_orders::Failure;
use tessera_store::run_alone;

use super::super::listing::{Listing, next};
use super::super::request::Json;
use super::products::no_product;
use super::{Operator, Viewer};
use crate::app::App;
use crate::parse;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::wire::{BatchBody, BatchList, CodeCheckBody, CodeRequest, VoidBody, VoidRequest};

/// A product's batches, newest first.
#[utoipa::path(get, operation_id = "admin_batches", path = "/v1/admin/products/{sku}/batches", tag = "operators",
    security(("key" = [])), params(("sku" = String, Path), Listing),
    responses((status = 200, description = "its batches", body = BatchList),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody),
        (status = 404, description = "no such product", body = ProblemBody)))]
pub(in crate::routes) async fn list(
    _viewer: Viewer,
    State(app): State<App>,
    Path(sku): Path<String>,
    Query(listing): Query<Listing>,
) -> Result<axum::Json<BatchList>, Problem> {
    let (before, limit) = listing.page(BatchId::parse)?;
    let sku = Sku::parse(&sku).map_err(|_| no_product())?;
    let store = Arc::clone(&app.store);
    let batches = run_alone(async move {
        let mut tx = store.snapshot().await?;
        match tx.products_of(&[sku]).await?.pop() {
            Some(product) => tx.batches_list(Some(product.id), before, limit).await.map(Some),
            None => Ok(None),
        }
    })
    .await?
    .ok_or_else(no_product)?;
    let next = next(&batches, limit, |batch| batch.id.to_string());
    Ok(axum::Json(BatchList { batches: batches.iter().map(BatchBody::from).collect(), next }))
}

/// Void a batch's unissued rest, which closes it, or single positions, issued or not.
#[utoipa::path(post, operation_id = "admin_void", path = "/v1/admin/batches/{id}/void", tag = "operators",
    security(("key" = [])), params(("id" = String, Path)), request_body = VoidRequest,
    responses((status = 200, description = "what was voided, and whom it touches", body = VoidBody),
        (status = 400, description = "not JSON", body = ProblemBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not act", body = ProblemBody),
        (status = 404, description = "no such batch", body = ProblemBody),
        (status = 409, description = "void already, a round, or claimed by pending orders", body = ProblemBody),
        (status = 415, description = "the body is not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody)))]
pub(in crate::routes) async fn void(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<String>,
    Json(body): Json,
) -> Result<axum::Json<VoidBody>, Problem> {
    let batch = BatchId::parse(&id).ok_or_else(|| refused(CannotVoid::NoBatch))?;
    let asked = parse::void(body)?;
    let what =
        asked.positions.map_or(What::Rest, |positions| What::Positions(positions.into_iter().collect()));
    let (actor, reason) = (operator.actor(), asked.reason.to_string());
    let wish = Wish { batch, what, actor, reason, force: asked.force };
    let outcome = cards::void(&app.store, &app.keyring, wish).await.map_err(Failure::Set)?;
    outcome.map(|report| axum::Json(VoidBody::new(batch, &report))).map_err(refused)
}

fn refused(why: CannotVoid) -> Problem {
    match why {
        CannotVoid::NoBatch => Problem::new(Slug::NotFound, why.to_string()),
        CannotVoid::NoPosition(_) => Problem::invalid_at("/positions", why),
        CannotVoid::Round
        | CannotVoid::NotOpen(_)
        | CannotVoid::Loading
        | CannotVoid::Void(_)
        | CannotVoid::Claimed { .. } => Problem::new(Slug::Conflict, why.to_string()),
    }
}

/// Whether a code is ours, and whose it is. Codes are sent in the body alone: URLs are written to logs.
#[utoipa::path(post, operation_id = "admin_code_check", path = "/v1/admin/codes/check", tag = "operators",
    security(("key" = [])), request_body = CodeRequest,
    responses((status = 200, description = "where it is", body = CodeCheckBody),
        (status = 400, description = "not JSON", body = ProblemBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody),
        (status = 415, description = "the body is not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody)))]
pub(in crate::routes) async fn check(
    _viewer: Viewer,
    State(app): State<App>,
    Json(body): Json,
) -> Result<axum::Json<CodeCheckBody>, Problem> {
    let code = parse::code(body)?;
    let found = cards::find(&app.store, &app.keyring, &code).await?;
    Ok(axum::Json(CodeCheckBody::from(found.as_ref())))
}
