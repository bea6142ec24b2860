//! Products as operators see and write them.

use serde::Serialize;
use tessera_model::time::Timestamp;
use tessera_store::products::StockFigures;

use crate::read::ProductView;
use crate::wire::{MoneyBody, ProductBody};

/// A product with what buyers are not told.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct AdminProductBody {
    #[serde(flatten)]
    product: ProductBody,
    /// Whether buyers see it.
    active: bool,
    /// `fifo` or `random`, of batches opened from now on.
    #[schema(example = "fifo")]
    pick: &'static str,
    /// Fewer than this are worth a warning.
    low_stock_at: Option<i64>,
    /// Codes of open batches that nobody has.
    unissued: i64,
    /// Quantity in orders that are pending.
    claimed: i64,
    /// Codes that orders have.
    issued: i64,
    /// Codes never to be sold.
    voided: i64,
    /// Quantity in backordered orders; part of `claimed`.
    backordered: i64,
}

impl AdminProductBody {
    /// A product as it is at `now`.
    pub fn new(view: &ProductView, figures: Option<&StockFigures>, now: Timestamp) -> Self {
        let rules = &view.product.rules;
        Self {
            product: ProductBody::new(view, now),
            active: rules.active,
            pick: rules.pick.as_str(),
            low_stock_at: rules.low_stock_at,
            unissued: view.stock.unissued,
            claimed: view.stock.claimed,
            issued: figures.map_or(0, |f| f.issued),
            voided: figures.map_or(0, |f| f.voided),
            backordered: figures.map_or(0, |f| f.backordered),
        }
    }
}

/// Products, newest first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct AdminProductList {
    /// The products.
    pub products: Vec<AdminProductBody>,
    /// What to give as `cursor` for the next ones; none at the end.
    pub next: Option<String>,
}

/// All that is said of a product; what is left out is as it was never said.
#[derive(utoipa::ToSchema)]
#[schema(example = json!({"name": "iQiyi, one month", "kind": "codes", "price": {"minor": 1990, "currency": "CNY"}}))]
pub(crate) struct ProductRequest {
    /// As in the path, if at all.
    #[expect(dead_code, reason = "a shape")]
    sku: Option<String>,
    #[expect(dead_code, reason = "a shape")]
    name: String,
    #[expect(dead_code, reason = "a shape")]
    note: Option<String>,
    #[expect(dead_code, reason = "a shape")]
    kind: String,
    #[expect(dead_code, reason = "a shape")]
    price: MoneyBody,
    /// 900 by default.
    #[expect(dead_code, reason = "a shape")]
    hold_seconds: Option<i64>,
    #[expect(dead_code, reason = "a shape")]
    max_per_order: Option<i64>,
    #[expect(dead_code, reason = "a shape")]
    per_customer_limit: Option<i64>,
    #[expect(dead_code, reason = "a shape")]
    new_customers_only: Option<bool>,
    #[expect(dead_code, reason = "a shape")]
    open_orders_per_customer: Option<i64>,
    #[expect(dead_code, reason = "a shape")]
    sale_starts_at: Option<String>,
    #[expect(dead_code, reason = "a shape")]
    sale_ends_at: Option<String>,
    #[expect(dead_code, reason = "a shape")]
    backorders: Option<bool>,
    /// `fifo` or `random`.
    #[expect(dead_code, reason = "a shape")]
    pick: Option<String>,
    #[expect(dead_code, reason = "a shape")]
    low_stock_at: Option<i64>,
    /// True by default.
    #[expect(dead_code, reason = "a shape")]
    active: Option<bool>,
    /// With the kind `coupon`.
    #[expect(dead_code, reason = "a shape")]
    coupon: Option<CouponRequest>,
    /// With the kind `raffle`.
    #[expect(dead_code, reason = "a shape")]
    raffle: Option<RaffleRequest>,
}

/// What a coupon is made of.
#[derive(utoipa::ToSchema)]
struct CouponRequest {
    /// How many codes; a higher count adds a pool.
    #[expect(dead_code, reason = "a shape")]
    count: i64,
    /// Each X a symbol of Crockford's base32, the last one a check symbol.
    #[schema(example = "SPRING-XXXX-XXXX")]
    #[expect(dead_code, reason = "a shape")]
    format: String,
    #[expect(dead_code, reason = "a shape")]
    expires_at: Option<String>,
}

/// What a raffle is made of.
#[derive(utoipa::ToSchema)]
struct RaffleRequest {
    /// The shares of a round.
    #[expect(dead_code, reason = "a shape")]
    shares: i64,
    /// 10000001 by default.
    #[expect(dead_code, reason = "a shape")]
    first_number: Option<i64>,
    /// 600 by default.
    #[expect(dead_code, reason = "a shape")]
    draw_after_seconds: Option<i64>,
    #[expect(dead_code, reason = "a shape")]
    last_round: Option<i64>,
    /// `none` by default, or `drand:quicknet`.
    #[expect(dead_code, reason = "a shape")]
    entropy_rule: Option<String>,
}
