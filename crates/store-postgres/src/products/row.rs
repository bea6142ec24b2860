//! A product as a row.

use std::time::Duration;

use tessera_model::coupon::Format;
use tessera_model::draw::EntropyRule;
use tessera_model::ids::ProductId;
use tessera_model::money::{Currency, Money};
use tessera_model::product::{Coupon, Kind, Pick, Product, ProductRules, Raffle};
use tessera_model::text::{Note, ProductName, Sku};
use tessera_store::Result;

use super::sql;
use crate::encode::{At, bigint, column};
use crate::row::Fields;
use crate::tx::Statement;

/// The columns of [`sql::PUT`], in its order.
pub(super) fn put(products: &[Product], now: At) -> Statement {
    let rules = |of: fn(&ProductRules) -> Option<i64>| column(products, |p| of(&p.rules));
    let texts = |of: fn(&ProductRules) -> &str| column(products, |p| of(&p.rules).to_owned());
    let coupons = |of: fn(&Coupon) -> Option<i64>| column(products, |p| p.rules.kind.coupon().and_then(of));
    let raffles = |of: fn(&Raffle) -> Option<i64>| column(products, |p| p.rules.kind.raffle().and_then(of));
    let format = |p: &Product| p.rules.kind.coupon().map(|c| c.format.as_str().to_owned());
    let expires = |p: &Product| p.rules.kind.coupon().and_then(|c| c.expires_at).map(At);
    let flags = |of: fn(&ProductRules) -> bool| column(products, |p| of(&p.rules));
    sqlx::query(sql::PUT)
        .bind(now)
        .bind(column(products, |p| p.id.uuid()))
        .bind(texts(|r| r.sku.as_str()))
        .bind(texts(|r| r.name.as_str()))
        .bind(texts(|r| r.note.as_str()))
        .bind(texts(|r| r.kind.as_str()))
        .bind(rules(|r| Some(r.price.minor)))
        .bind(texts(|r| r.price.currency.code()))
        .bind(rules(|r| Some(bigint(r.hold.as_secs()))))
        .bind(rules(|r| r.max_per_order))
        .bind(rules(|r| r.per_customer_limit))
        .bind(flags(|r| r.new_customers_only))
        .bind(rules(|r| r.open_orders_per_customer))
        .bind(column(products, |p| p.rules.sale_starts_at.map(At)))
        .bind(column(products, |p| p.rules.sale_ends_at.map(At)))
        .bind(flags(|r| r.backorders))
        .bind(texts(|r| r.pick.as_str()))
        .bind(rules(|r| r.low_stock_at))
        .bind(flags(|r| r.active))
        .bind(coupons(|c| Some(c.count)))
        .bind(column(products, format))
        .bind(column(products, expires))
        .bind(raffles(|r| Some(r.shares)))
        .bind(raffles(|r| Some(r.first_number)))
        .bind(raffles(|r| Some(bigint(r.draw_after.as_secs()))))
        .bind(column(products, |p| p.rules.kind.raffle().map(|r| r.entropy_rule.as_str())))
        .bind(raffles(|r| r.last_round))
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
