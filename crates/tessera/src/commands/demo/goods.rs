//! What the demo sells: a product of each shop of the seeds.

use std::time::Duration;

use tessera_model::coupon::Format;
use tessera_model::draw::EntropyRule;
use tessera_model::money::{Currency, Money};
use tessera_model::product::{Coupon, Kind, Pick, ProductRules, Raffle};
use tessera_model::text::{Note, ProductName, Sku};

/// Codes to import: those of the card, and the places of the flash sale. The other products compute theirs.
pub(super) const STOCK: [usize; 2] = [5_000, 300];

/// A bought-in card, a flash sale, a coupon for new customers and a raffle.
pub(super) fn products() -> Option<Vec<ProductRules>> {
    Some(vec![card()?, flash()?, coupon()?, raffle()?])
}

fn product(sku: &str, name: &str, kind: Kind, minor: i64) -> Option<ProductRules> {
    let (sku, name) = (Sku::parse(sku).ok()?, ProductName::parse(name).ok()?);
    Some(ProductRules::new(sku, name, kind, Money::new(minor, Currency::parse("CNY").ok()?)))
}

fn card() -> Option<ProductRules> {
    Some(ProductRules {
        note: Note::parse("Redeem at iqiyi.com within a year.").ok()?,
        max_per_order: Some(100),
        open_orders_per_customer: Some(5),
        low_stock_at: Some(50),
        ..product("iqiyi-month", "iQiyi, one month", Kind::Codes, 1_990)?
    })
}

fn flash() -> Option<ProductRules> {
    Some(ProductRules {
        note: Note::parse("Show the code at the door.").ok()?,
        hold: Duration::from_mins(1),
        max_per_order: Some(1),
        per_customer_limit: Some(1),
        open_orders_per_customer: Some(1),
        pick: Pick::Random,
        ..product("flash-place", "A place at the workshop (one a person)", Kind::Codes, 9_900)?
    })
}

fn coupon() -> Option<ProductRules> {
    let format = Format::parse("SPRING-XXXX-XXXX").ok()?;
    let kind = Kind::Coupon(Coupon { count: 5_000, format, expires_at: None });
    Some(ProductRules {
        note: Note::parse("10 % off the first order.").ok()?,
        max_per_order: Some(1),
        per_customer_limit: Some(1),
        new_customers_only: true,
        ..product("spring-coupon", "Spring coupon (new customers)", kind, 0)?
    })
}

fn raffle() -> Option<ProductRules> {
    let kind = Kind::Raffle(Raffle {
        shares: 6_800,
        first_number: 10_000_001,
        draw_after: Duration::from_mins(10),
        last_round: None,
        entropy_rule: EntropyRule::None,
    });
    Some(ProductRules {
        note: Note::parse("The draw is ten minutes after the round is full.").ok()?,
        ..product("phone-share", "A share of a phone", kind, 100)?
    })
}
