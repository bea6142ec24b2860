//! Products, as `products apply` and the operators' API take them.

use std::time::Duration;

use serde_json::Value;
use tessera_model::money::PRICE_MINOR_MAX;
use tessera_model::order::QUANTITY_MAX;
use tessera_model::product::{HOLD_DEFAULT, Kind, Pick, ProductRules};
use tessera_model::text::{Note, ProductName, Sku};

use super::fields::Fields;
use crate::problem::Problem;

/// The longest hold: 30 days, in seconds.
const HOLD_SECONDS_MAX: i64 = 30 * 24 * 3600;

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
    let kind = fields.text("kind", |t| Kind::parse(t).ok_or("is no kind this version sells: use codes"));
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
        pick: pick.unwrap_or(Pick::Fifo),
        low_stock_at,
        active,
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
    fn a_list_says_which_product_is_at_fault() {
        let problem = products(json!([{"sku": "a"}])).unwrap_err();
        assert!(serde_json::to_string(&problem.body()).unwrap().contains("\"/0/name\""));
    }
}
