//! Products with what is on their shelf.

use std::collections::HashMap;

use tessera_model::ids::ProductId;
use tessera_model::product::{Product, Stock};
use tessera_store::{Result, Tx};

/// Each product with its stock, in the order given; one read for all.
///
/// # Errors
/// The store's.
pub async fn with_stock(tx: &mut dyn Tx, products: Vec<Product>) -> Result<Vec<(Product, Stock)>> {
    let ids: Vec<ProductId> = products.iter().map(|p| p.id).collect();
    let stock: HashMap<ProductId, Stock> = tx.stock_read(&ids).await?.into_iter().collect();
    let stocked = |p: Product| {
        let stock = stock.get(&p.id).copied().unwrap_or_default();
        (p, stock)
    };
    Ok(products.into_iter().map(stocked).collect())
}
