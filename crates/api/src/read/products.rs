//! Products with what is on their shelf.

use std::collections::HashMap;

use tessera_model::ids::ProductId;
use tessera_model::product::{Product, Stock};
use tessera_model::round::Round;
use tessera_store::{Result, Tx};

/// A product as it is shown.
#[derive(Clone, Debug)]
pub struct ProductView {
    /// The product.
    pub product: Product,
    /// What is on its shelf.
    pub stock: Stock,
    /// Of a raffle, the round on sale.
    pub round: Option<Round>,
}

/// Each product with its stock, in the order given; one read for all.
///
/// # Errors
/// The store's.
pub async fn with_stock(tx: &mut dyn Tx, products: Vec<Product>) -> Result<Vec<ProductView>> {
    let ids: Vec<ProductId> = products.iter().map(|p| p.id).collect();
    let stock: HashMap<ProductId, Stock> = tx.stock_read(&ids).await?.into_iter().collect();
    let raffles: Vec<ProductId> =
        products.iter().filter(|p| p.rules.kind.raffle().is_some()).map(|p| p.id).collect();
    let rounds = if raffles.is_empty() { vec![] } else { tx.rounds_on_sale(&raffles).await? };
    let mut rounds: HashMap<ProductId, Round> = rounds.into_iter().map(|r| (r.product, r)).collect();
    let stocked = |product: Product| {
        let stock = stock.get(&product.id).copied().unwrap_or_default();
        let round = rounds.remove(&product.id);
        ProductView { product, stock, round }
    };
    Ok(products.into_iter().map(stocked).collect())
}
