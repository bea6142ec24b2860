//! Products and their stock.

use async_trait::async_trait;
use tessera_model::ids::ProductId;
use tessera_model::product::{Product, Stock};
use tessera_model::text::Sku;

use crate::error::Result;

/// A product's stock as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockFigures {
    /// The product.
    pub sku: Sku,
    /// Unissued and claimed.
    pub stock: Stock,
    /// Codes that orders have.
    pub issued: i64,
    /// Codes never to be sold.
    pub voided: i64,
    /// Quantity in backordered orders; part of `claimed`.
    pub backordered: i64,
}

/// Operations on products.
#[async_trait]
pub trait ProductOps {
    /// The products with these skus, in no order; unknown ones are absent.
    async fn products_of(&mut self, skus: &[Sku]) -> Result<Vec<Product>>;

    /// The products with these ids, in no order.
    async fn products_read(&mut self, ids: &[ProductId]) -> Result<Vec<Product>>;

    /// Products newest first, those before `before` only.
    async fn products_list(&mut self, before: Option<ProductId>, limit: i64) -> Result<Vec<Product>>;

    /// As [`ProductOps::products_list`], active ones only: the catalogue.
    async fn products_catalogue(&mut self, before: Option<ProductId>, limit: i64) -> Result<Vec<Product>>;

    /// Inserts products with their stock rows, or replaces what is said of those whose id is known.
    async fn products_put(&mut self, products: &[Product]) -> Result<()>;

    /// Which of the products are in any order.
    async fn products_sold(&mut self, ids: &[ProductId]) -> Result<Vec<ProductId>>;

    /// Locks the stock rows, lowest id first. The first lock of every step that moves claims.
    async fn stock_lock(&mut self, ids: &[ProductId]) -> Result<()>;

    /// What is on the shelf: unissued of open batches, and claimed.
    async fn stock_read(&mut self, ids: &[ProductId]) -> Result<Vec<(ProductId, Stock)>>;

    /// Adds to `claimed`; a product given several times moves by the sum.
    async fn stock_move(&mut self, deltas: &[(ProductId, i64)]) -> Result<()>;

    /// Stock as operators see it, of all products or of one, by sku.
    async fn stock_figures(&mut self, sku: Option<&Sku>) -> Result<Vec<StockFigures>>;
}
