//! Products: what an operator says of something for sale.

use std::time::Duration;

mod kind;

pub use kind::{Coupon, FIRST_NUMBER_MAX, Kind, ROUNDS_PER_ORDER_MAX, Raffle, SHARES_MAX};

use crate::ids::ProductId;
use crate::money::Money;
use crate::text::{Note, ProductName, Sku};
use crate::time::Timestamp;

/// In which order a batch gives out its codes. Copied into the batch when it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// As they were imported.
    Fifo,
    /// By a keyed permutation of the position.
    Random,
}

impl Pick {
    /// The word in SQL and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Random => "random",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Fifo, Self::Random].into_iter().find(|p| p.as_str() == text)
    }
}

/// What `products apply` says of a product; replaces all that was said before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductRules {
    /// Its name in URLs and files.
    pub sku: Sku,
    /// What buyers read.
    pub name: ProductName,
    /// Shown with the codes.
    pub note: Note,
    /// Where codes come from.
    pub kind: Kind,
    /// The price of one; 0 is a giveaway.
    pub price: Money,
    /// How long an unpaid order keeps its claim.
    pub hold: Duration,
    /// The most codes in one order.
    pub max_per_order: Option<i64>,
    /// The most codes one customer may ever buy.
    pub per_customer_limit: Option<i64>,
    /// Only for customers who never paid and have no other order open.
    pub new_customers_only: bool,
    /// The most unpaid orders of this product one customer may have.
    pub open_orders_per_customer: Option<i64>,
    /// The sale's first instant.
    pub sale_starts_at: Option<Timestamp>,
    /// The first instant after the sale.
    pub sale_ends_at: Option<Timestamp>,
    /// Whether it may be sold before its codes arrive.
    pub backorders: bool,
    /// The order of giving out.
    pub pick: Pick,
    /// Warn when fewer codes are left.
    pub low_stock_at: Option<i64>,
    /// Whether buyers see it.
    pub active: bool,
}

/// A product of the shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Its id.
    pub id: ProductId,
    /// What the operator said of it.
    pub rules: ProductRules,
}

/// Why a product's rules cannot be replaced by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotChange {
    /// The kind is fixed.
    #[error("the kind cannot change once something was sold: use another sku")]
    Kind,
    /// The currency is fixed.
    #[error("the currency cannot change once something was sold: use another sku")]
    Currency,
    /// A coupon's format is fixed.
    #[error("the format cannot change once something was sold: use another sku")]
    Format,
    /// Fewer codes of a coupon than there are.
    #[error("the count cannot fall below what was made: void what is too many")]
    Count,
}

/// How long an unpaid order keeps its claim unless the operator says otherwise.
pub const HOLD_DEFAULT: Duration = Duration::from_mins(15);

impl ProductRules {
    /// What is said of a product of which only this is said: no limits, always on sale, first in, first out.
    pub fn new(sku: Sku, name: ProductName, kind: Kind, price: Money) -> Self {
        Self {
            sku,
            name,
            note: Note::default(),
            kind,
            price,
            hold: HOLD_DEFAULT,
            max_per_order: None,
            per_customer_limit: None,
            new_customers_only: false,
            open_orders_per_customer: None,
            sale_starts_at: None,
            sale_ends_at: None,
            backorders: false,
            pick: Pick::Fifo,
            low_stock_at: None,
            active: true,
        }
    }

    /// The most of it that one order may take: what the operator says, and of a raffle no more than so many rounds.
    pub fn order_max(&self) -> Option<i64> {
        let rounds = self.kind.raffle().map(|raffle| raffle.shares.saturating_mul(ROUNDS_PER_ORDER_MAX));
        self.max_per_order.into_iter().chain(rounds).min()
    }

    /// Whether `new` may take this one's place, given whether anything was sold.
    ///
    /// # Errors
    /// [`CannotChange`] names the part that is fixed by the first sale.
    pub fn may_become(&self, new: &Self, sold: bool) -> Result<(), CannotChange> {
        let formats = self.kind.coupon().zip(new.kind.coupon());
        let other_format = formats.is_some_and(|(old, new)| old.format != new.format);
        match sold {
            // What was made of one kind cannot be sold as another.
            true if self.kind.as_str() != new.kind.as_str() => Err(CannotChange::Kind),
            true if self.price.currency != new.price.currency => Err(CannotChange::Currency),
            true if other_format => Err(CannotChange::Format),
            _ if !other_format && formats.is_some_and(|(old, new)| new.count < old.count) => {
                Err(CannotChange::Count)
            }
            true | false => Ok(()),
        }
    }
}

/// What is on the shelf of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stock {
    /// Codes of open batches that nobody has and that are not voided.
    pub unissued: i64,
    /// Quantity in orders that are pending.
    pub claimed: i64,
    /// Whether any quantity may be ordered: of a raffle, while another round follows.
    pub endless: bool,
}

impl Stock {
    /// What a new order may still claim; below zero after a void or with backorders. Of a raffle that goes on, what
    /// is left of its round.
    pub const fn available(self) -> i64 {
        self.unissued.saturating_sub(self.claimed)
    }
}
