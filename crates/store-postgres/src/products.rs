//! Products and their stock. See [`ProductOps`].

use std::time::Duration;

use async_trait::async_trait;
use tessera_model::ids::ProductId;
use tessera_model::money::{Currency, Money};
use tessera_model::product::{Kind, Pick, Product, ProductRules, Stock};
use tessera_model::text::{Note, ProductName, Sku};
use tessera_store::Result;
use tessera_store::products::{ProductOps, StockFigures};

use crate::encode::{At, bigint, column};
use crate::row::Fields;
use crate::tx::{PostgresTx, Statement};

mod sql;
pub(crate) use sql::unissued;

/// The columns of [`sql::PUT`], in its order.
fn put(products: &[Product], now: At) -> Statement {
    let rules = |of: fn(&ProductRules) -> Option<i64>| column(products, |p| of(&p.rules));
    let texts = |of: fn(&ProductRules) -> &str| column(products, |p| of(&p.rules).to_owned());
    let flags = |of: fn(&ProductRules) -> bool| column(products, |p| of(&p.rules));
    sqlx::query(sql::PUT)
        .bind(now)
        .bind(column(products, |p| p.id.uuid()))
        .bind(texts(|r| r.sku.as_str()))
        .bind(texts(|r| r.name.as_str()))
        .bind(texts(|r| r.note.as_str()))
        .bind(texts(|r| r.kind.as_str()))
        .bind(rules(|r| Some(r.price.minor)))
        .bind(texts(|r| r.price.currency.code()))
        .bind(rules(|r| Some(bigint(r.hold.as_secs()))))
        .bind(rules(|r| r.max_per_order))
        .bind(rules(|r| r.per_customer_limit))
        .bind(flags(|r| r.new_customers_only))
        .bind(rules(|r| r.open_orders_per_customer))
        .bind(column(products, |p| p.rules.sale_starts_at.map(At)))
        .bind(column(products, |p| p.rules.sale_ends_at.map(At)))
        .bind(flags(|r| r.backorders))
        .bind(texts(|r| r.pick.as_str()))
        .bind(rules(|r| r.low_stock_at))
        .bind(flags(|r| r.active))
}

fn product(fields: &Fields<'_>) -> Result<Product> {
    let currency = fields.parse("currency", |t| Currency::parse(t).ok())?;
    let rules = ProductRules {
        sku: fields.parse("sku", |t| Sku::parse(t).ok())?,
        name: fields.parse("name", |t| ProductName::parse(t).ok())?,
        note: fields.parse("note", |t| Note::parse(t).ok())?,
        kind: fields.parse("kind", Kind::parse)?,
        price: Money::new(fields.get("price_minor")?, currency),
        hold: Duration::from_secs(fields.integer("hold_seconds")?),
        max_per_order: fields.get("max_per_order")?,
        per_customer_limit: fields.get("per_customer_limit")?,
        new_customers_only: fields.get("new_customers_only")?,
        open_orders_per_customer: fields.get("open_orders_per_customer")?,
        sale_starts_at: fields.optional_time("sale_starts_at")?,
        sale_ends_at: fields.optional_time("sale_ends_at")?,
        backorders: fields.get("backorders")?,
        pick: fields.parse("pick", Pick::parse)?,
        low_stock_at: fields.get("low_stock_at")?,
        active: fields.get("active")?,
    };
    Ok(Product { id: fields.id("id", ProductId::from_uuid)?, rules })
}

fn ids(products: &[ProductId]) -> Vec<uuid::Uuid> {
    column(products, |p| p.uuid())
}

#[async_trait]
impl ProductOps for PostgresTx {
    async fn products_of(&mut self, skus: &[Sku]) -> Result<Vec<Product>> {
        let skus = column(skus, |s| s.as_str().to_owned());
        self.read(sqlx::query(sql::OF).bind(skus), "product", product).await
    }

    async fn products_read(&mut self, products: &[ProductId]) -> Result<Vec<Product>> {
        self.read(sqlx::query(sql::READ).bind(ids(products)), "product", product).await
    }

    async fn products_list(&mut self, before: Option<ProductId>, limit: i64) -> Result<Vec<Product>> {
        let before = before.map(ProductId::uuid);
        self.read(sqlx::query(sql::LIST).bind(before).bind(limit), "product", product).await
    }

    async fn products_catalogue(&mut self, before: Option<ProductId>, limit: i64) -> Result<Vec<Product>> {
        let before = before.map(ProductId::uuid);
        self.read(sqlx::query(sql::CATALOGUE).bind(before).bind(limit), "product", product).await
    }

    async fn products_put(&mut self, products: &[Product]) -> Result<()> {
        self.execute(put(products, self.at())).await?;
        self.execute(sqlx::query(sql::PUT_STOCK).bind(column(products, |p| p.id.uuid()))).await?;
        Ok(())
    }

    async fn products_sold(&mut self, products: &[ProductId]) -> Result<Vec<ProductId>> {
        let sold = sqlx::query(sql::SOLD).bind(ids(products));
        self.read(sold, "product", |f| f.id("id", ProductId::from_uuid)).await
    }

    async fn stock_lock(&mut self, products: &[ProductId]) -> Result<()> {
        self.lock(sqlx::query(sql::STOCK_LOCK).bind(ids(products))).await
    }

    async fn stock_read(&mut self, products: &[ProductId]) -> Result<Vec<(ProductId, Stock)>> {
        self.read(sqlx::query(sql::STOCK).bind(ids(products)), "stock", |f| {
            let stock = Stock { unissued: f.get("unissued")?, claimed: f.get("claimed")? };
            Ok((f.id("product", ProductId::from_uuid)?, stock))
        })
        .await
    }

    async fn stock_move(&mut self, deltas: &[(ProductId, i64)]) -> Result<()> {
        let products = column(deltas, |(product, _)| product.uuid());
        let moved = sqlx::query(sql::MOVE).bind(products).bind(column(deltas, |(_, delta)| *delta));
        self.execute(moved).await.map(drop)
    }

    async fn stock_figures(&mut self, sku: Option<&Sku>) -> Result<Vec<StockFigures>> {
        // Every span of a product is looked at.
        self.unhurried().await?;
        let sku = sku.map(|s| s.as_str().to_owned());
        self.read(sqlx::query(sql::FIGURES).bind(sku), "stock", |f| {
            Ok(StockFigures {
                sku: f.parse("sku", |t| Sku::parse(t).ok())?,
                stock: Stock { unissued: f.get("unissued")?, claimed: f.get("claimed")? },
                issued: f.get("issued")?,
                voided: f.get("voided")?,
                backordered: f.get("backordered")?,
            })
        })
        .await
    }
}
