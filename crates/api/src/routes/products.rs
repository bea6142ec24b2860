//! `/v1/products`.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tessera_model::ids::ProductId;
use tessera_model::product::{Product, Stock};
use tessera_model::text::Sku;
use tessera_model::time::Timestamp;
use tessera_store::run_alone;

use crate::app::App;
use crate::instant::rfc3339;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::wire::{ProductBody, ProductList};

/// The most products in one answer.
const LIMIT_MAX: i64 = 1_000;

/// Where to begin and how many.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Listing {
    /// `next` of the answer before.
    cursor: Option<String>,
    /// How many, 1 to 1 000; 100 by default.
    limit: Option<i64>,
}

/// The catalogue, newest first.
#[utoipa::path(get, path = "/v1/products", tag = "products", params(Listing),
    responses((status = 200, description = "active products", body = ProductList)))]
pub(super) async fn list(
    State(app): State<App>,
    Query(listing): Query<Listing>,
) -> Result<Response, Problem> {
    let limit = listing.limit.unwrap_or(100);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Problem::invalid_at("limit", format!("is not from 1 to {LIMIT_MAX}: give one that is")));
    }
    let before = match listing.cursor.as_deref().map(ProductId::parse) {
        Some(None) => return Err(Problem::invalid_at("cursor", "is none of ours: give `next` as it was")),
        Some(cursor) => cursor,
        None => None,
    };
    let store = Arc::clone(&app.store);
    let (products, stock) = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let products = tx.products_catalogue(before, limit).await?;
        let ids: Vec<ProductId> = products.iter().map(|p| p.id).collect();
        let stock: HashMap<ProductId, Stock> = tx.stock_read(&ids).await?.into_iter().collect();
        Ok((products, stock))
    })
    .await?;
    let full = i64::try_from(products.len()).is_ok_and(|n| n == limit);
    let next = products.last().filter(|_| full).map(|p| p.id.to_string());
    let now = app.now();
    let shown = products.iter();
    let body = ProductList {
        products: shown.map(|p| body(p, stock.get(&p.id).copied(), now)).collect(),
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
    let (product, stock) = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let product = tx.products_of(&[sku]).await?.into_iter().next();
        let ids: Vec<ProductId> = product.iter().map(|p| p.id).collect();
        Ok((product, tx.stock_read(&ids).await?))
    })
    .await?;
    let product = product.filter(|p| p.rules.active).ok_or_else(missing)?;
    Ok(fresh(axum::Json(body(&product, stock.first().map(|(_, s)| *s), app.now()))))
}

fn body(product: &Product, stock: Option<Stock>, now: Timestamp) -> ProductBody {
    ProductBody::new(product, stock.unwrap_or_default(), now)
}

/// Stock is never cached: a figure that can drift sells what is not there.
fn fresh(body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
