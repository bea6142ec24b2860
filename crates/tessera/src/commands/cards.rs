//! `tessera codes stock|batches|ledger`.

use std::sync::Arc;

use serde_json::json;
use tessera_api::wire::{BatchBody, BatchList, LedgerList};
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_store::ledger::{Movement, MovementFilter};
use tessera_store::run_alone;

use super::codes::sku;
use super::{cursor, next};
use crate::Outcome;
use crate::cli::{Batches, Ledger};
use crate::failure::{Exit, Failure};
use crate::output::{Output, or_dash, table};
use crate::shop::Shop;

/// The product of a sku, if one is wanted.
async fn product(shop: &Shop, wanted: Option<&str>) -> Result<Option<ProductId>, Failure> {
    let Some(sku) = wanted.map(sku).transpose()? else { return Ok(None) };
    let (store, named) = (Arc::clone(&shop.store), sku.clone());
    let found = run_alone(async move { store.snapshot().await?.products_of(&[named]).await }).await?.pop();
    let none = || Failure::not_found(format!("there is no product {sku}"));
    found.map(|product| Some(product.id)).ok_or_else(none)
}

pub(super) fn id<T>(text: &str, parse: impl Fn(&str) -> Option<T>, what: &str) -> Result<T, Failure> {
    parse(text).ok_or_else(|| {
        Failure::usage(format!("that is no {what}'s id")).with_remedy("give it as it is listed")
    })
}

pub(super) async fn batches(shop: &Shop, wanted: &Batches, output: Output) -> Outcome {
    let product = product(shop, wanted.sku.as_deref()).await?;
    let (before, limit) = (cursor(wanted.listing.cursor.as_deref(), BatchId::parse)?, wanted.listing.limit);
    let store = Arc::clone(&shop.store);
    let batches =
        run_alone(async move { store.snapshot().await?.batches_list(product, before, limit).await }).await?;
    let listed = BatchList {
        batches: batches.iter().map(BatchBody::from).collect(),
        next: next(&batches, limit, |batch| batch.id.to_string()),
    };
    output.print(&listed, |_| {
        let rows = batches.iter().map(|batch| {
            [
                batch.id.to_string(),
                batch.sku.to_string(),
                batch.state.as_str().to_owned(),
                batch.unissued.to_string(),
                batch.issued.to_string(),
                batch.voided.to_string(),
                or_dash(batch.supplier.clone()),
                or_dash(batch.expires_at.map(tessera_api::rfc3339)),
            ]
        });
        table(&["id", "sku", "state", "unissued", "issued", "voided", "supplier", "expires at"], rows)
    })?;
    Ok(Exit::Done)
}

pub(super) async fn ledger(shop: &Shop, wanted: &Ledger, output: Output) -> Outcome {
    let filter = MovementFilter {
        product: product(shop, wanted.sku.as_deref()).await?,
        batch: wanted.batch.as_deref().map(|text| id(text, BatchId::parse, "batch")).transpose()?,
        order: wanted.order.as_deref().map(|text| id(text, OrderId::parse, "order")).transpose()?,
        before: cursor(wanted.listing.cursor.as_deref(), LedgerList::cursor)?,
    };
    let (store, limit) = (Arc::clone(&shop.store), wanted.listing.limit);
    let movements =
        run_alone(async move { store.snapshot().await?.movements_list(&filter, limit).await }).await?;
    output.print(&LedgerList::new(&movements, limit), |_| text(&movements))?;
    Ok(Exit::Done)
}

fn text(movements: &[Movement]) -> String {
    let rows = movements.iter().map(|movement| {
        [
            or_dash(movement.at.map(tessera_api::rfc3339)),
            movement.what.as_str().to_owned(),
            movement.quantity.to_string(),
            movement.sku.to_string(),
            movement.batch.to_string(),
            or_dash(movement.owner.map(|owner| owner.order.to_string())),
            or_dash(movement.actor.clone()),
            or_dash(movement.reason.clone()),
        ]
    });
    table(&["at", "what", "codes", "sku", "batch", "order", "who", "why"], rows)
}

pub(super) async fn stock(shop: &Shop, of: Option<&str>, output: Output) -> Outcome {
    let of = of.map(sku).transpose()?;
    let store = Arc::clone(&shop.store);
    let wanted = of.clone();
    let figures =
        run_alone(async move { store.snapshot().await?.stock_figures(wanted.as_ref()).await }).await?;
    if let Some(sku) = of.filter(|_| figures.is_empty()) {
        return Err(Failure::not_found(format!("there is no product {sku}")));
    }
    let body = figures.iter().map(|f| {
        json!({
            "sku": f.sku.as_str(), "unissued": f.stock.unissued, "claimed": f.stock.claimed,
            "available": f.stock.available().max(0), "issued": f.issued, "voided": f.voided,
            "backordered": f.backordered,
        })
    });
    output.print(&json!({ "stock": body.collect::<Vec<_>>() }), |_| {
        let rows = figures.iter().map(|f| {
            let numbers = [
                f.stock.unissued,
                f.stock.claimed,
                f.stock.available().max(0),
                f.issued,
                f.voided,
                f.backordered,
            ];
            std::iter::once(f.sku.to_string()).chain(numbers.map(|n| n.to_string())).collect::<Vec<_>>()
        });
        table(&["sku", "unissued", "claimed", "available", "issued", "voided", "backordered"], rows)
    })?;
    Ok(Exit::Done)
}
