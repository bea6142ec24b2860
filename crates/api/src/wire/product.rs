//! Products as buyers see them.

use serde::Serialize;
use tessera_model::product::{Product, Stock};
use tessera_model::time::Timestamp;

use super::MoneyBody;
use crate::instant::rfc3339;

/// A product of the catalogue.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ProductBody {
    #[schema(example = "iqiyi-month")]
    sku: String,
    name: String,
    /// Shown with the codes.
    note: String,
    #[schema(example = "codes")]
    kind: &'static str,
    /// The price of one.
    price: MoneyBody,
    /// How long an unpaid order keeps its claim.
    hold_seconds: u64,
    max_per_order: Option<i64>,
    per_customer_limit: Option<i64>,
    new_customers_only: bool,
    open_orders_per_customer: Option<i64>,
    sale_starts_at: Option<String>,
    sale_ends_at: Option<String>,
    /// Whether it may be ordered beyond what is available.
    backorders: bool,
    /// What a new order can have at once, 0 when nothing is left.
    available: i64,
    /// The time here.
    server_time: String,
}

impl ProductBody {
    /// A product as it is shown at `now`.
    pub fn new(product: &Product, stock: Stock, now: Timestamp) -> Self {
        let rules = &product.rules;
        Self {
            sku: rules.sku.to_string(),
            name: rules.name.to_string(),
            note: rules.note.as_str().to_owned(),
            kind: rules.kind.as_str(),
            price: rules.price.into(),
            hold_seconds: rules.hold.as_secs(),
            max_per_order: rules.max_per_order,
            per_customer_limit: rules.per_customer_limit,
            new_customers_only: rules.new_customers_only,
            open_orders_per_customer: rules.open_orders_per_customer,
            sale_starts_at: rules.sale_starts_at.map(rfc3339),
            sale_ends_at: rules.sale_ends_at.map(rfc3339),
            backorders: rules.backorders,
            available: stock.available().max(0),
            server_time: rfc3339(now),
        }
    }
}

/// The catalogue, newest first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ProductList {
    /// Active products.
    pub products: Vec<ProductBody>,
    /// What to give as `cursor` for the next ones; none at the end.
    pub next: Option<String>,
    /// The time here.
    pub server_time: String,
}
