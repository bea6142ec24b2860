//! What the demo sells.

use std::time::Duration;

use tessera_model::money::{Currency, Money};
use tessera_model::product::{Kind, Pick, ProductRules};
use tessera_model::text::{Note, ProductName, Sku};

/// Codes of the card, and places of the flash sale.
pub(super) const STOCK: [usize; 2] = [5_000, 300];

/// A bought-in card and a flash sale.
pub(super) fn products() -> Option<Vec<ProductRules>> {
    let price = |minor| Some(Money::new(minor, Currency::parse("CNY").ok()?));
    let product = |sku, name, minor| {
        let (sku, name) = (Sku::parse(sku).ok()?, ProductName::parse(name).ok()?);
        Some(ProductRules::new(sku, name, Kind::Codes, price(minor)?))
    };
    let card = ProductRules {
        note: Note::parse("Redeem at iqiyi.com within a year.").ok()?,
        max_per_order: Some(100),
        open_orders_per_customer: Some(5),
        low_stock_at: Some(50),
        ..product("iqiyi-month", "iQiyi, one month", 1_990)?
    };
    let flash = ProductRules {
        note: Note::parse("Show the code at the door.").ok()?,
        hold: Duration::from_mins(1),
        max_per_order: Some(1),
        per_customer_limit: Some(1),
        open_orders_per_customer: Some(1),
        pick: Pick::Random,
        ..product("flash-place", "A place at the workshop (one a person)", 9_900)?
    };
    Some(vec![card, flash])
}
