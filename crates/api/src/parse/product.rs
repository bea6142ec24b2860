//! Products, as `products apply` and the operators' API take them.

use std::time::Duration;

use serde_json::Value;
use tessera_model::coupon::Format;
use tessera_model::draw::EntropyRule;
use tessera_model::money::PRICE_MINOR_MAX;
use tessera_model::order::QUANTITY_MAX;
use tessera_model::product::{
    Coupon, FIRST_NUMBER_MAX, HOLD_DEFAULT, Kind, Pick, ProductRules, Raffle, SHARES_MAX,
};
use tessera_model::text::{Note, ProductName, Sku};

use super::fields::Fields;
use crate::problem::Problem;

/// The longest hold: 30 days, in seconds.
const HOLD_SECONDS_MAX: i64 = 30 * 24 * 3600;

/// The most codes of one coupon.
const COUNT_MAX: i64 = 1_000_000_000;

/// The longest countdown to a draw: 30 days, in seconds.
const DRAW_AFTER_SECONDS_MAX: i64 = 30 * 24 * 3600;

/// The countdown unless the operator says otherwise.
const DRAW_AFTER_DEFAULT: Duration = Duration::from_mins(10);

/// Numbers of eight digits unless the operator says otherwise.
const FIRST_NUMBER_DEFAULT: i64 = 10_000_001;

/// One product, or a list of them.
///
/// # Errors
/// A [`Problem`] that names every fault of the first product that has one.
pub fn products(document: Value) -> Result<Vec<ProductRules>, Problem> {
    match document {
        Value::Array(items) => {
            items.into_iter().enumerate().map(|(at, item)| parsed(format!("/{at}"), item)).collect()
        }
        // TOML has no array at its root: `[[product]]` tables stand for one.
        Value::Object(mut object) if object.len() == 1 && object.contains_key("product") => {
            products(object.remove("product").unwrap_or_default())
        }
        one => product(one).map(|p| vec![p]),
    }
}

/// One product.
///
/// # Errors
/// A [`Problem`] that names every fault.
pub fn product(document: Value) -> Result<ProductRules, Problem> {
    parsed(String::new(), document)
}

fn parsed(pointer: String, document: Value) -> Result<ProductRules, Problem> {
    let mut fields = Fields::at(pointer, document).map_err(|e| Problem::invalid(vec![e]))?;
    let rules = rules(&mut fields);
    fields.done(rules)
}

fn rules(fields: &mut Fields) -> Option<ProductRules> {
    let sku = fields.text("sku", Sku::parse);
    let name = fields.text("name", ProductName::parse);
    let note = fields.optional_text("note", Note::parse).unwrap_or_default();
    let kind = kind(fields);
    let price = fields.money("price", 0, PRICE_MINOR_MAX);
    let hold = fields.optional_integer("hold_seconds", 1, HOLD_SECONDS_MAX);
    let max_per_order = fields.optional_integer("max_per_order", 1, QUANTITY_MAX);
    let per_customer_limit = fields.optional_integer("per_customer_limit", 1, i64::MAX);
    let new_customers_only = fields.switch("new_customers_only", false);
    let open_orders_per_customer = fields.optional_integer("open_orders_per_customer", 1, i64::MAX);
    let sale_starts_at = fields.optional_instant("sale_starts_at");
    let sale_ends_at = fields.optional_instant("sale_ends_at");
    if sale_ends_at.is_some_and(|end| sale_starts_at.is_some_and(|start| end <= start)) {
        fields.fault("sale_ends_at", "is not after sale_starts_at: give a later one");
    }
    let backorders = fields.switch("backorders", false);
    let pick = fields.optional_text("pick", |t| Pick::parse(t).ok_or("is neither fifo nor random: give one"));
    let low_stock_at = fields.optional_integer("low_stock_at", 1, i64::MAX);
    let active = fields.switch("active", true);
    let computed = kind.as_ref().is_some_and(|kind| *kind != Kind::Codes);
    if computed && pick == Some(Pick::Fifo) {
        fields.fault("pick", "is fifo, and computed codes come in an order nobody can guess: leave it out");
    }
    if backorders && kind.as_ref().is_some_and(|kind| kind.raffle().is_some()) {
        fields.fault("backorders", "is true, and a raffle opens rounds by itself: leave it out");
    }
    let pick_default = if computed { Pick::Random } else { Pick::Fifo };
    Some(ProductRules {
        sku: sku?,
        name: name?,
        note,
        kind: kind?,
        price: price?,
        hold: hold.and_then(|s| u64::try_from(s).ok()).map_or(HOLD_DEFAULT, Duration::from_secs),
        max_per_order,
        per_customer_limit,
        new_customers_only,
        open_orders_per_customer,
        sale_starts_at,
        sale_ends_at,
        backorders,
        pick: pick.unwrap_or(pick_default),
        low_stock_at,
        active,
    })
}

/// The kind, with the object that belongs to it and no other.
fn kind(fields: &mut Fields) -> Option<Kind> {
    let word = fields.text("kind", |t| {
        let known = ["codes", "coupon", "raffle"].into_iter().find(|word| *word == t);
        known.ok_or("is no kind: give codes, coupon or raffle")
    })?;
    for other in ["coupon", "raffle"].into_iter().filter(|other| *other != word) {
        if fields.take(other).is_some() {
            fields.fault(other, format!("is of another kind than {word}: remove it"));
        }
    }
    match word {
        "coupon" => coupon(fields).map(Kind::Coupon),
        "raffle" => raffle(fields).map(Kind::Raffle),
        _ => Some(Kind::Codes),
    }
}

fn coupon(fields: &mut Fields) -> Option<Coupon> {
    let mut coupon = fields.object("coupon")?;
    let count = coupon.integer("count", 1, COUNT_MAX);
    let format = coupon.text("format", Format::parse);
    let expires_at = coupon.optional_instant("expires_at");
    if let Some((count, format)) = count.zip(format.as_ref())
        && count > format.codes_max()
    {
        let most = format.codes_max();
        coupon.fault(
            "format",
            format!("can give out {most} codes that nobody guesses: use more X, or a lower count"),
        );
    }
    fields.faults(coupon.finish());
    Some(Coupon { count: count?, format: format?, expires_at })
}

fn raffle(fields: &mut Fields) -> Option<Raffle> {
    let mut raffle = fields.object("raffle")?;
    let shares = raffle.integer("shares", 1, SHARES_MAX);
    let first_number = raffle.optional_integer("first_number", 0, FIRST_NUMBER_MAX);
    let draw_after = raffle.optional_integer("draw_after_seconds", 0, DRAW_AFTER_SECONDS_MAX);
    let last_round = raffle.optional_integer("last_round", 1, i64::MAX);
    let entropy_rule = raffle.optional_text("entropy_rule", |t| {
        EntropyRule::parse(t).ok_or("is no rule: give none or drand:quicknet")
    });
    fields.faults(raffle.finish());
    Some(Raffle {
        shares: shares?,
        first_number: first_number.unwrap_or(FIRST_NUMBER_DEFAULT),
        draw_after: draw_after
            .and_then(|s| u64::try_from(s).ok())
            .map_or(DRAW_AFTER_DEFAULT, Duration::from_secs),
        last_round,
        entropy_rule: entropy_rule.unwrap_or(EntropyRule::None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn four_fields_make_a_product() {
        let rules = product(json!({"sku": "a", "name": "A", "kind": "codes",
            "price": {"minor": 0, "currency": "CNY"}}))
        .unwrap();
        assert_eq!(rules.hold, Duration::from_mins(15));
        assert!(rules.active && !rules.backorders && rules.max_per_order.is_none());
    }

    #[test]
    fn zero_is_no_limit_and_null_is_none() {
        let with = |limit: Value| {
            product(json!({"sku": "a", "name": "A", "kind": "codes",
                "price": {"minor": 0, "currency": "CNY"}, "max_per_order": limit}))
        };
        assert!(with(json!(0)).is_err());
        assert_eq!(with(json!(null)).unwrap().max_per_order, None);
    }

    #[test]
    fn a_kind_has_its_own_object_and_no_other() {
        let of = |kind: &str, extra: Value| {
            let mut body =
                json!({"sku": "a", "name": "A", "kind": kind, "price": {"minor": 1, "currency": "CNY"}});
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let found = product(body);
            found.map(|rules| rules.kind).map_err(|p| serde_json::to_string(&p.body()).unwrap())
        };
        let coupon = json!({"coupon": {"count": 5000, "format": "SPRING-XXXX-XXXX"}});
        assert_eq!(of("coupon", coupon.clone()).unwrap().coupon().unwrap().count, 5_000);
        assert_eq!(
            of("raffle", json!({"raffle": {"shares": 6800}})).unwrap().raffle().unwrap().shares,
            6_800
        );
        for (kind, extra, at) in [
            ("codes", coupon.clone(), "/coupon"),
            ("raffle", coupon.clone(), "/raffle"),
            ("coupon", json!({}), "/coupon"),
            ("lottery", json!({}), "/kind"),
            ("coupon", json!({"coupon": {"count": 5000, "format": "XXXX"}}), "/coupon/format"),
            ("coupon", json!({"coupon": {"count": 0, "format": "XXXXXXXX"}}), "/coupon/count"),
            ("raffle", json!({"raffle": {"shares": 0}}), "/raffle/shares"),
            ("raffle", json!({"raffle": {"shares": 5, "entropy_rule": "dice"}}), "/raffle/entropy_rule"),
            ("raffle", json!({"raffle": {"shares": 5}, "backorders": true}), "/backorders"),
            ("raffle", json!({"raffle": {"shares": 5}, "pick": "fifo"}), "/pick"),
        ] {
            let refused = of(kind, extra).unwrap_err();
            assert!(refused.contains(&format!("\"{at}\"")), "{kind} {at}: {refused}");
        }
    }

    #[test]
    fn a_list_says_which_product_is_at_fault() {
        let problem = products(json!([{"sku": "a"}])).unwrap_err();
        assert!(serde_json::to_string(&problem.body()).unwrap().contains("\"/0/name\""));
    }
}
