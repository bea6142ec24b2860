//! What the demo sells.

use std::time::Duration;

use tessera_model::money::{Currency, Money};
use tessera_model::product::{Kind, Pick, ProductRules};
use tessera_model::text::{Note, ProductName, Sku};

/// Codes of the card, and places of the flash sale.
pub(super) const STOCK: [usize; 2] = [5_000, 300];

/// A card of seed 003 and a flash sale of seed 001.
pub(super) fn products() -> Option<Vec<ProductRules>> {
    let price = |minor| Some(Money::new(minor, Currency::parse("CNY").ok()?));
    let card = ProductRules {
        sku: Sku::parse("iqiyi-month").ok()?,
        name: ProductName::parse("iQiyi, one month").ok()?,
        note: Note::parse("Redeem at iqiyi.com within a year.").ok()?,
        kind: Kind::Codes,
        price: price(1_990)?,
        hold: Duration::from_mins(15),
        max_per_order: Some(100),
        per_customer_limit: None,
        new_customers_only: false,
        open_orders_per_customer: Some(5),
        sale_starts_at: None,
        sale_ends_at: None,
        backorders: false,
        pick: Pick::Fifo,
        low_stock_at: Some(50),
        active: true,
    };
    let flash = ProductRules {
        sku: Sku::parse("flash-place").ok()?,
        name: ProductName::parse("A place at the workshop (one a person)").ok()?,
        note: Note::parse("Show the code at the door.").ok()?,
        price: price(9_900)?,
        hold: Duration::from_mins(1),
        max_per_order: Some(1),
        per_customer_limit: Some(1),
        open_orders_per_customer: Some(1),
        pick: Pick::Random,
        low_stock_at: None,
        ..card.clone()
    };
    Some(vec![card, flash])
}
