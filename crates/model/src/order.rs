//! Orders: their states, the events that move them, and their lines.
//!
//! ```text
//!                     Paid/Accepted          Issued
//!  awaiting_payment ───────────────▶ paid ───────────▶ issued
//!     │        │                     │  ▲                │
//!     │Expired │Cancelled Backordered│  │Paid (late) or  │RefundOrdered
//!     ▼        ▼                     ▼  │Accepted        ▼
//!  expired  cancelled         backordered │          refund_due ──▶ refunded
//!     └────────┴──────────────────────────┘   RefundCompleted
//! ```
//!
//! `paid` and `backordered` too may become `refund_due`. Whether a late payment may be honoured is decided
//! where stock and limits are known ([`crate::place::Shelf::honour`]); here it is a legal move.

use crate::ids::{OrderId, ProductId};
use crate::money::Money;
use crate::text::{CustomerId, Email, Note, ProductName, Sku};
use crate::time::Timestamp;

mod state;

pub use state::{OrderEvent, OrderState, RefusedTransition};

#[cfg(test)]
mod tests;

/// The most codes in one order.
pub const QUANTITY_MAX: i64 = 100_000;

/// The name of a state, as SQL and JSON write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderStatus {
    /// Placed; its claim is held until the hold ends.
    AwaitingPayment,
    /// Paid in full; the issuer has not had it yet.
    Paid,
    /// Paid, and waiting for stock.
    Backordered,
    /// It has its codes.
    Issued,
    /// Its hold ended unpaid.
    Expired,
    /// Cancelled before it was paid.
    Cancelled,
    /// Its money is to be paid back.
    RefundDue,
    /// Its money was paid back.
    Refunded,
}

impl OrderStatus {
    /// Every status.
    pub const ALL: [Self; 8] = [
        Self::AwaitingPayment,
        Self::Paid,
        Self::Backordered,
        Self::Issued,
        Self::Expired,
        Self::Cancelled,
        Self::RefundDue,
        Self::Refunded,
    ];

    /// The word in SQL and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AwaitingPayment => "awaiting_payment",
            Self::Paid => "paid",
            Self::Backordered => "backordered",
            Self::Issued => "issued",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::RefundDue => "refund_due",
            Self::Refunded => "refunded",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }

    /// Whether waiting for codes is pointless: no further step of ours will bring them.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::AwaitingPayment | Self::Paid | Self::Backordered)
    }

    /// Whether the order's quantity counts in `claimed`.
    pub const fn claims(self) -> bool {
        !self.is_final()
    }

    /// Whether its units count against the customer's limit (a refund does not give back).
    pub const fn counts_for_customer(self) -> bool {
        !matches!(self, Self::Expired | Self::Cancelled)
    }
}

impl std::fmt::Display for OrderStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One product of an order, as it was when the order was placed. Immutable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counts from 1 within the order.
    pub number: i32,
    /// The product.
    pub product: ProductId,
    /// Its sku.
    pub sku: Sku,
    /// What it was called.
    pub name: ProductName,
    /// The usage note shown with the codes.
    pub note: Note,
    /// How many codes, 1 to [`QUANTITY_MAX`].
    pub quantity: i64,
    /// The price of one, in minor units of the order's currency.
    pub unit_minor: i64,
}

/// An order without its lines: what the steps lock and decide on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its id.
    pub id: OrderId,
    /// Raised by every visible change; from 1.
    pub version: i64,
    /// Where it is.
    pub state: OrderState,
    /// Who buys.
    pub customer: CustomerId,
    /// Where to write, if they said.
    pub email: Option<Email>,
    /// What is due.
    pub amount: Money,
    /// Raised to revoke the buyer's token.
    pub epoch: i32,
    /// When it was placed.
    pub created_at: Timestamp,
}
