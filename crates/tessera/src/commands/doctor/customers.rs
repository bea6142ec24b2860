//! Whether anybody vouches for customers where it matters who they are.

use std::sync::Arc;

use tessera_api::CustomerProof;
use tessera_model::product::{Product, ProductRules};
use tessera_store::{Result, Tx, run_alone};

use super::Check;
use crate::settings::Settings;
use crate::shop::Shop;

/// Products read at a time.
const PAGE: i64 = 1_000;

/// Skus that are named; of more, the number is told.
const NAMED_MAX: usize = 3;

pub(super) async fn check(settings: &Settings, shop: &Shop) -> Check {
    match settings.customer_proof() {
        Ok(CustomerProof::None) => {}
        Ok(_) => return Check::ok("customers", "vouched for"),
        Err(failure) => return Check::wrong("customers", &failure),
    }
    let store = Arc::clone(&shop.store);
    let found = run_alone(async move { unguarded(&mut *store.snapshot().await?).await }).await;
    match found {
        Ok(skus) if skus.is_empty() => Check::ok("customers", "no product is limited or free"),
        Ok(skus) => Check::warning(
            "customers",
            format!("nobody vouches for customers, and {} limited or free", named(&skus)),
            "set customers.proof to key or jwt, or let nobody but your own servers reach the API",
        ),
        Err(error) => Check::wrong("customers", &error.into()),
    }
}

/// Skus of active products that are free or are limited by who buys.
async fn unguarded(tx: &mut dyn Tx) -> Result<Vec<String>> {
    let (mut skus, mut before) = (vec![], None);
    loop {
        let page: Vec<Product> = tx.products_catalogue(before, PAGE).await?;
        before = page.last().map(|product| product.id);
        if before.is_none() {
            return Ok(skus);
        }
        let guarded = page.into_iter().filter(|product| needs_proof(&product.rules));
        skus.extend(guarded.map(|product| product.rules.sku.to_string()));
    }
}

fn needs_proof(rules: &ProductRules) -> bool {
    let limited = rules.per_customer_limit.is_some() || rules.open_orders_per_customer.is_some();
    limited || rules.new_customers_only || rules.price.minor == 0
}

fn named(skus: &[String]) -> String {
    let first: Vec<&str> = skus.iter().take(NAMED_MAX).map(String::as_str).collect();
    match (skus.len(), skus.len().saturating_sub(NAMED_MAX)) {
        (1, _) => format!("{} is", first.join("")),
        (_, 0) => format!("{} are", first.join(", ")),
        (_, more) => format!("{} and {more} more are", first.join(", ")),
    }
}
