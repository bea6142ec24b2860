//! `/v1/admin/ledger`.

use std::sync::Arc;

use axum::extract::{Query, State};
use serde::Deserialize;
use tessera_model::ids::{BatchId, OrderId};
use tessera_model::text::Sku;
use tessera_store::ledger::MovementFilter;
use tessera_store::run_alone;

use super::super::listing::page;
use super::Viewer;
use super::products::no_product;
use crate::app::App;
use crate::problem::{Problem, ProblemBody};
use crate::wire::LedgerList;

/// Which movements, and where to begin.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct Asked {
    /// Only of this product.
    sku: Option<String>,
    /// Only of this batch.
    batch: Option<String>,
    /// Only of this order.
    order: Option<String>,
    /// `next` of the answer before.
    cursor: Option<String>,
    /// How many, 1 to 1 000; 100 by default.
    limit: Option<i64>,
}

/// Every movement of stock with its cause: the newest batch first, and of a batch what came last.
#[utoipa::path(get, operation_id = "admin_ledger", path = "/v1/admin/ledger", tag = "operators",
    security(("key" = [])), params(Asked),
    responses((status = 200, description = "movements", body = LedgerList),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not look", body = ProblemBody),
        (status = 404, description = "no such product", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody)))]
pub(in crate::routes) async fn ledger(
    _viewer: Viewer,
    State(app): State<App>,
    Query(asked): Query<Asked>,
) -> Result<axum::Json<LedgerList>, Problem> {
    let (before, limit) = page(asked.cursor.as_deref(), asked.limit, LedgerList::cursor)?;
    let sku = asked.sku.as_deref().map(Sku::parse).transpose().map_err(|e| Problem::invalid_at("sku", e))?;
    let batch = id("batch", asked.batch.as_deref(), BatchId::parse)?;
    let order = id("order", asked.order.as_deref(), OrderId::parse)?;
    let store = Arc::clone(&app.store);
    let movements = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let product = match sku {
            Some(sku) => match tx.products_of(&[sku]).await?.pop() {
                Some(product) => Some(product.id),
                None => return Ok(None),
            },
            None => None,
        };
        tx.movements_list(&MovementFilter { product, batch, order, before }, limit).await.map(Some)
    })
    .await?
    .ok_or_else(no_product)?;
    Ok(axum::Json(LedgerList::new(&movements, limit)))
}

/// An id of a query, if it is there.
pub(super) fn id<T>(
    name: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Problem> {
    let wrong = || Problem::invalid_at(name, "is no id: give one as it is shown");
    text.map(|text| parse(text).ok_or_else(wrong)).transpose()
}
