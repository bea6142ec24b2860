//! `/v1/admin/products`.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tessera_backoffice::products::{self, ApplyError};
use tessera_issuer::Mint;
use tessera_model::ids::ProductId;
use tessera_model::text::Sku;
use tessera_store::products::StockFigures;
use tessera_store::run_alone;

use super::super::listing::{Listing, next};
use super::super::request::Json;
use super::{Operator, Viewer};
use crate::app::App;
use crate::parse;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::read::{ProductView, with_stock};
use crate::wire::{AdminProductBody, AdminProductList, ProductRequest};

/// All products, inactive ones too, newest first.
#[utoipa::path(get, operation_id = "admin_products", path = "/v1/admin/products", tag = "operators", security(("key" = [])), params(Listing),
    responses((status = 200, description = "products with their stock", body = AdminProductList),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody)))]
pub(in crate::routes) async fn list(
    _viewer: Viewer,
    State(app): State<App>,
    Query(listing): Query<Listing>,
) -> Result<axum::Json<AdminProductList>, Problem> {
    let (before, limit) = listing.page(ProductId::parse)?;
    let store = Arc::clone(&app.store);
    let (products, figures) = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let products = tx.products_list(before, limit).await?;
        Ok((with_stock(&mut *tx, products).await?, tx.stock_figures(None).await?))
    })
    .await?;
    let figures: HashMap<Sku, StockFigures> = figures.into_iter().map(|f| (f.sku.clone(), f)).collect();
    let (next, now) = (next(&products, limit, |view| view.product.id.to_string()), app.now());
    let body = |view: &ProductView| AdminProductBody::new(view, figures.get(&view.product.rules.sku), now);
    Ok(axum::Json(AdminProductList { products: products.iter().map(body).collect(), next }))
}

/// One product, active or not.
#[utoipa::path(get, operation_id = "admin_product", path = "/v1/admin/products/{sku}", tag = "operators", security(("key" = [])),
    params(("sku" = String, Path)),
    responses((status = 200, description = "the product with its stock", body = AdminProductBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody),
        (status = 404, description = "no such product", body = ProblemBody)))]
pub(in crate::routes) async fn show(
    _viewer: Viewer,
    State(app): State<App>,
    Path(sku): Path<String>,
) -> Result<axum::Json<AdminProductBody>, Problem> {
    let sku = Sku::parse(&sku).map_err(|_| no_product())?;
    one(&app, sku).await.map(axum::Json)
}

/// Create a product, or replace all that was said of it; what `tessera products apply` takes.
#[utoipa::path(put, operation_id = "admin_product_apply", path = "/v1/admin/products/{sku}", tag = "operators", security(("key" = [])),
    params(("sku" = String, Path)), request_body = ProductRequest,
    responses((status = 200, description = "replaced", body = AdminProductBody),
        (status = 201, description = "created", body = AdminProductBody),
        (status = 400, description = "not JSON", body = ProblemBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not act", body = ProblemBody),
        (status = 409, description = "what is fixed by the first sale would change", body = ProblemBody),
        (status = 413, description = "the body is too large", body = ProblemBody),
        (status = 415, description = "the body is not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody)))]
pub(in crate::routes) async fn apply(
    operator: Operator,
    State(app): State<App>,
    Path(sku): Path<String>,
    Json(mut body): Json,
) -> Result<Response, Problem> {
    // The path has the sku already; a body that has it too may not name another.
    if let Some(object) = body.as_object_mut() {
        object.entry("sku").or_insert_with(|| sku.clone().into());
    }
    let rules = parse::product(body)?;
    if rules.sku.as_str() != sku {
        return Err(Problem::invalid_at("/sku", "is not that of the path: give the same, or leave it out"));
    }
    let named = rules.sku.clone();
    let mint = Mint::new(&app.keyring, &app.entropy);
    let applied = products::apply(&app.store, &mint, vec![rules], operator.actor()).await;
    let created = applied.map_err(refused)?.first().is_some_and(|applied| applied.created);
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, axum::Json(one(&app, named).await?)).into_response())
}

fn refused(error: ApplyError) -> Problem {
    match error {
        ApplyError::Store(error) => error.into(),
        refused => Problem::new(Slug::Conflict, refused.to_string()),
    }
}

async fn one(app: &App, sku: Sku) -> Result<AdminProductBody, Problem> {
    let store = Arc::clone(&app.store);
    let (product, figures) = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let products = tx.products_of(std::slice::from_ref(&sku)).await?;
        Ok((with_stock(&mut *tx, products).await?.pop(), tx.stock_figures(Some(&sku)).await?.pop()))
    })
    .await?;
    let product = product.ok_or_else(no_product)?;
    Ok(AdminProductBody::new(&product, figures.as_ref(), app.now()))
}

pub(super) fn no_product() -> Problem {
    Problem::new(Slug::NotFound, "there is no such product")
}
