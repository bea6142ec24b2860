//! `tessera products list|show|apply`.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tessera_api::read::{ProductView, with_stock};
use tessera_api::wire::ProductBody;
use tessera_backoffice::products::{ApplyError, apply};
use tessera_model::ids::ProductId;
use tessera_model::product::Kind;
use tessera_model::text::Sku;
use tessera_store::{Store, run_alone};

use super::{ACTOR, cursor, next};
use crate::Outcome;
use crate::cli::{Listing, Products};
use crate::failure::{Exit, Failure};
use crate::output::{Output, table};
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

pub(super) async fn run(settings: &Settings, command: Products, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    match command {
        Products::List(listing) => list(&shop, &listing, output).await,
        Products::Show { sku } => show(&shop, &sku, output).await,
        Products::Apply { file } => apply_file(&shop, &file, output).await,
    }
}

async fn list(shop: &Shop, listing: &Listing, output: Output) -> Outcome {
    let before = cursor(listing.cursor.as_deref(), ProductId::parse)?;
    let limit = listing.limit;
    let store = Arc::clone(&shop.store);
    let products = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let products = tx.products_list(before, limit).await?;
        with_stock(&mut *tx, products).await
    })
    .await?;
    let now = shop.clock.now();
    let body = |view: &ProductView| ProductBody::new(view, now);
    let listed = json!({
        "products": products.iter().map(body).collect::<Vec<_>>(),
        "next": next(&products, limit, |view| view.product.id.to_string()),
    });
    output.print(&listed, |_| {
        let rows = products.iter().map(|ProductView { product, stock, .. }| {
            let rules = &product.rules;
            let price = format!("{} {}", rules.price.minor, rules.price.currency);
            let active = if rules.active { "yes" } else { "no" };
            [
                rules.sku.to_string(),
                rules.name.to_string(),
                price,
                stock.available().max(0).to_string(),
                active.to_owned(),
            ]
        });
        table(&["sku", "name", "price (minor)", "available", "active"], rows)
    })?;
    Ok(Exit::Done)
}

async fn show(shop: &Shop, sku: &str, output: Output) -> Outcome {
    let sku = Sku::parse(sku).map_err(|e| Failure::usage(format!("the sku {e}")))?;
    let found = one(&shop.store, sku.clone()).await?;
    let view = found.ok_or_else(|| {
        Failure::not_found(format!("there is no product {sku}"))
            .with_remedy("`tessera products list` shows all")
    })?;
    let body = ProductBody::new(&view, shop.clock.now());
    output.print(&body, |body| serde_json::to_string_pretty(body).unwrap_or_default())?;
    Ok(Exit::Done)
}

/// The product with this sku, as it is shown.
pub(super) async fn one(store: &Arc<dyn Store>, sku: Sku) -> Result<Option<ProductView>, Failure> {
    let store = Arc::clone(store);
    let found = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let products = tx.products_of(&[sku]).await?;
        with_stock(&mut *tx, products).await
    });
    Ok(found.await?.into_iter().next())
}

/// Why nothing was applied.
pub(super) fn refused(error: ApplyError) -> Failure {
    match error {
        ApplyError::Store(error) => error.into(),
        refused => Failure::no(refused.to_string()),
    }
}

async fn apply_file(shop: &Shop, file: &Path, output: Output) -> Outcome {
    let rules = tessera_api::parse::products(document(file)?)?;
    if rules.iter().any(|rules| rules.kind != Kind::Codes) {
        // Their keys are wrapped under the keyring.
        shop.bind_keys().await?;
    }
    let applied = apply(&shop.store, &shop.mint(), rules, ACTOR.to_owned()).await.map_err(refused)?;
    let said = |created| if created { "created" } else { "replaced" };
    let rows =
        applied.iter().map(|a| json!({ "sku": a.product.rules.sku.as_str(), "outcome": said(a.created) }));
    let body = json!({ "products": rows.collect::<Vec<_>>() });
    output.print(&body, |_| {
        let lines = applied.iter().map(|a| format!("{} {}", said(a.created), a.product.rules.sku));
        lines.collect::<Vec<_>>().join("\n")
    })?;
    Ok(Exit::Done)
}

/// A file's JSON, or TOML as the same values.
fn document(file: &Path) -> Result<Value, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::usage(format!("{} cannot be read: {e}", file.display())))?;
    let json = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let parsed = match json {
        true => serde_json::from_str(&text).map_err(|e| e.to_string()),
        false => toml::from_str(&text).map_err(|e| e.to_string()),
    };
    parsed.map_err(|e| {
        let kind = if json { "JSON" } else { "TOML" };
        Failure::usage(format!("{} is no {kind}: {e}", file.display()))
            .with_remedy("a name that ends in .json is read as JSON, any other as TOML")
    })
}
