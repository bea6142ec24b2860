//! Products and their stock. See [`ProductOps`].

use async_trait::async_trait;
use tessera_model::ids::ProductId;
use tessera_model::product::{Product, Stock};
use tessera_model::text::Sku;
use tessera_store::Result;
use tessera_store::products::{ProductOps, StockFigures};

use crate::encode::column;
use crate::row::Fields;
use crate::tx::PostgresTx;

mod row;
mod sql;

use row::{product, put};
pub(crate) use sql::unissued;

fn ids(products: &[ProductId]) -> Vec<uuid::Uuid> {
    column(products, |p| p.uuid())
}

fn stock(fields: &Fields<'_>) -> Result<Stock> {
    let (unissued, claimed) = (fields.get("unissued")?, fields.get("claimed")?);
    Ok(Stock { unissued, claimed, endless: fields.get("endless")? })
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
            Ok((f.id("product", ProductId::from_uuid)?, stock(f)?))
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
                stock: stock(f)?,
                issued: f.get("issued")?,
                voided: f.get("voided")?,
                backordered: f.get("backordered")?,
            })
        })
        .await
    }
}
