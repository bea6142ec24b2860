//! Products as buyers see them.

use serde::Serialize;
use tessera_model::product::Product;
use tessera_model::time::Timestamp;

use super::{MoneyBody, RoundBody};
use crate::instant::rfc3339;
use crate::read::ProductView;

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
    /// Of a coupon, what its codes look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    coupon: Option<CouponBody>,
    /// Of a raffle, what its rounds are made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    raffle: Option<RaffleBody>,
    /// Of a raffle, the round on sale: a link to the product always leads to it. Absent once the raffle is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_round: Option<RoundBody>,
    /// The time here.
    server_time: String,
}

/// What a coupon's codes look like.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct CouponBody {
    #[schema(example = "SPRING-XXXX-XXXX")]
    format: String,
    expires_at: Option<String>,
}

/// What a raffle's rounds are made of.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct RaffleBody {
    /// The shares of a round.
    shares: i64,
    first_number: i64,
    /// From a full round to its draw.
    draw_after_seconds: u64,
    /// After this round there is no other.
    last_round: Option<i64>,
    entropy_rule: &'static str,
}

fn coupon(product: &Product) -> Option<CouponBody> {
    let coupon = product.rules.kind.coupon()?;
    let expires_at = coupon.expires_at.map(rfc3339);
    Some(CouponBody { format: coupon.format.as_str().to_owned(), expires_at })
}

fn raffle(product: &Product) -> Option<RaffleBody> {
    let raffle = product.rules.kind.raffle()?;
    Some(RaffleBody {
        shares: raffle.shares,
        first_number: raffle.first_number,
        draw_after_seconds: raffle.draw_after.as_secs(),
        last_round: raffle.last_round,
        entropy_rule: raffle.entropy_rule.as_str(),
    })
}

impl ProductBody {
    /// A product as it is shown at `now`.
    pub fn new(view: &ProductView, now: Timestamp) -> Self {
        let ProductView { product, stock, round } = view;
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
            coupon: coupon(product),
            raffle: raffle(product),
            current_round: round.as_ref().map(RoundBody::new),
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
