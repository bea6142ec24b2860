//! Reads what a set of orders is decided on, under the locks that keep it true.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tessera_faults::{Break, broken};
use tessera_model::ids::ProductId;
use tessera_model::place::Shelf;
use tessera_model::product::Product;
use tessera_model::text::CustomerId;
use tessera_store::{Result, Tx};

/// Locks stock and customers in the one order of the house, then reads them into a shelf.
///
/// Locks come first and reads in later statements: a read that waited for a lock sees old rows. So are the products'
/// own rules, for whoever applies a product takes its stock's lock.
pub(crate) async fn locked(
    tx: &mut dyn Tx,
    products: impl Iterator<Item = ProductId>,
    customers: &[CustomerId],
) -> Result<Shelf> {
    let ids: Vec<ProductId> = products.collect::<BTreeSet<_>>().into_iter().collect();
    let early = match broken(Break::DecisionReadWithTheLock) {
        true => Some(tx.stock_read(&ids).await?),
        false => None,
    };
    tx.stock_lock(&ids).await?;
    let customers = distinct(customers);
    tx.customers_lock(&customers).await?;

    let mut shelf = Shelf::default();
    let products = tx.products_read(&ids).await?;
    let stock = match early {
        Some(stock) => stock,
        None => tx.stock_read(&ids).await?,
    };
    let mut stock: HashMap<_, _> = stock.into_iter().collect();
    let limited = products.iter().any(is_limited);
    for product in products {
        let on_shelf = stock.remove(&product.id).unwrap_or_default();
        shelf.put(product, on_shelf);
    }
    if limited {
        for (folded, standing) in tx.customers_standing(&customers, &ids).await? {
            shelf.know(folded, standing);
        }
    }
    Ok(shelf)
}

/// Whether the customer's past decides anything for this product.
fn is_limited(product: &Product) -> bool {
    let rules = &product.rules;
    rules.new_customers_only || rules.per_customer_limit.is_some() || rules.open_orders_per_customer.is_some()
}

/// One of each folded id, sorted by it.
fn distinct(customers: &[CustomerId]) -> Vec<CustomerId> {
    let by_folded: BTreeMap<&str, &CustomerId> = customers.iter().map(|c| (c.folded(), c)).collect();
    by_folded.into_values().cloned().collect()
}
