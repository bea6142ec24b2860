//! `/v1/products`.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tessera_model::ids::ProductId;
use tessera_model::text::Sku;
use tessera_store::run_alone;

use super::listing::{Listing, next};
use crate::app::App;
use crate::instant::rfc3339;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::read::with_stock;
use crate::wire::{ProductBody, ProductList};

/// The catalogue, newest first.
#[utoipa::path(get, path = "/v1/products", tag = "products", params(Listing),
    responses((status = 200, description = "active products", body = ProductList)))]
pub(super) async fn list(
    State(app): State<App>,
    Query(listing): Query<Listing>,
) -> Result<Response, Problem> {
    let (before, limit) = listing.page(ProductId::parse)?;
    let store = Arc::clone(&app.store);
    let products = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let products = tx.products_catalogue(before, limit).await?;
        with_stock(&mut *tx, products).await
    })
    .await?;
    let next = next(&products, limit, |view| view.product.id.to_string());
    let now = app.now();
    let body = ProductList {
        products: products.iter().map(|view| ProductBody::new(view, now)).collect(),
        next,
        server_time: rfc3339(now),
    };
    Ok(fresh(axum::Json(body)))
}

/// One product.
#[utoipa::path(get, path = "/v1/products/{sku}", tag = "products", params(("sku" = String, Path)),
    responses((status = 200, description = "the product", body = ProductBody),
        (status = 404, description = "unknown or inactive", body = ProblemBody)))]
pub(super) async fn product(State(app): State<App>, Path(sku): Path<String>) -> Result<Response, Problem> {
    let missing = || Problem::new(Slug::NotFound, "there is no such product");
    let sku = Sku::parse(&sku).map_err(|_| missing())?;
    let store = Arc::clone(&app.store);
    let found = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let products = tx.products_of(&[sku]).await?;
        with_stock(&mut *tx, products).await
    })
    .await?;
    let active = found.into_iter().find(|view| view.product.rules.active);
    let view = active.ok_or_else(missing)?;
    Ok(fresh(axum::Json(ProductBody::new(&view, app.now()))))
}

/// Stock is never cached: a figure that can drift sells what is not there.
pub(super) fn fresh(body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
