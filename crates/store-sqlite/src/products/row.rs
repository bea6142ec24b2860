//! A product as a row.

use std::time::Duration;

use serde::Serialize;
use tessera_model::coupon::Format;
use tessera_model::draw::EntropyRule;
use tessera_model::ids::ProductId;
use tessera_model::money::{Currency, Money};
use tessera_model::product::{Coupon, Kind, Pick, Product, ProductRules, Raffle};
use tessera_model::text::{Note, ProductName, Sku};
use tessera_model::time::Timestamp;
use tessera_store::Result;

use crate::encode::id;
use crate::row::Fields;

/// A product as `json_each` reads it.
#[derive(Serialize)]
pub(super) struct Row<'p> {
    id: String,
    sku: &'p str,
    name: &'p str,
    note: &'p str,
    kind: &'static str,
    price_minor: i64,
    currency: &'p str,
    hold_seconds: u64,
    max_per_order: Option<i64>,
    per_customer_limit: Option<i64>,
    // Numbers, not booleans: the columns are integers.
    new_customers_only: i64,
    open_orders_per_customer: Option<i64>,
    sale_starts_at: Option<i64>,
    sale_ends_at: Option<i64>,
    backorders: i64,
    pick: &'static str,
    low_stock_at: Option<i64>,
    active: i64,
    #[serde(flatten)]
    kind_of: KindRow,
}

/// What only one kind of product has.
#[derive(Default, Serialize)]
struct KindRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    coupon_count: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coupon_format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coupon_expires_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raffle_shares: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raffle_first_number: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raffle_draw_after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raffle_entropy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raffle_last_round: Option<i64>,
}

fn kind_row(kind: &Kind) -> KindRow {
    match kind {
        Kind::Codes => KindRow::default(),
        Kind::Coupon(coupon) => KindRow {
            coupon_count: Some(coupon.count),
            coupon_format: Some(coupon.format.as_str().to_owned()),
            coupon_expires_at: coupon.expires_at.map(Timestamp::micros),
            ..KindRow::default()
        },
        Kind::Raffle(raffle) => KindRow {
            raffle_shares: Some(raffle.shares),
            raffle_first_number: Some(raffle.first_number),
            raffle_draw_after: Some(raffle.draw_after.as_secs()),
            raffle_entropy: Some(raffle.entropy_rule.as_str()),
            raffle_last_round: raffle.last_round,
            ..KindRow::default()
        },
    }
}

fn kind(fields: &Fields<'_>) -> Result<Kind> {
    match fields.get("kind")? {
        "codes" => Ok(Kind::Codes),
        "coupon" => Ok(Kind::Coupon(Coupon {
            count: fields.get("coupon_count")?,
            format: fields.parse("coupon_format", |t| Format::parse(t).ok())?,
            expires_at: fields.optional_time("coupon_expires_at")?,
        })),
        "raffle" => Ok(Kind::Raffle(Raffle {
            shares: fields.get("raffle_shares")?,
            first_number: fields.get("raffle_first_number")?,
            draw_after: Duration::from_secs(fields.integer("raffle_draw_after")?),
            last_round: fields.get("raffle_last_round")?,
            entropy_rule: fields.parse("raffle_entropy", EntropyRule::parse)?,
        })),
        _ => Err(fields.inconsistent("kind")),
    }
}

pub(super) fn row(product: &Product) -> Row<'_> {
    let rules = &product.rules;
    Row {
        id: id(product.id.uuid()),
        sku: rules.sku.as_str(),
        name: rules.name.as_str(),
        note: rules.note.as_str(),
        kind: rules.kind.as_str(),
        price_minor: rules.price.minor,
        currency: rules.price.currency.code(),
        hold_seconds: rules.hold.as_secs(),
        max_per_order: rules.max_per_order,
        per_customer_limit: rules.per_customer_limit,
        new_customers_only: rules.new_customers_only.into(),
        open_orders_per_customer: rules.open_orders_per_customer,
        sale_starts_at: rules.sale_starts_at.map(Timestamp::micros),
        sale_ends_at: rules.sale_ends_at.map(Timestamp::micros),
        backorders: rules.backorders.into(),
        pick: rules.pick.as_str(),
        low_stock_at: rules.low_stock_at,
        active: rules.active.into(),
        kind_of: kind_row(&rules.kind),
    }
}

pub(super) fn product(fields: &Fields<'_>) -> Result<Product> {
    let currency = fields.parse("currency", |t| Currency::parse(t).ok())?;
    let rules = ProductRules {
        sku: fields.parse("sku", |t| Sku::parse(t).ok())?,
        name: fields.parse("name", |t| ProductName::parse(t).ok())?,
        note: fields.parse("note", |t| Note::parse(t).ok())?,
        kind: kind(fields)?,
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
