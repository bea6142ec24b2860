//! What a buyer asks for, parsed.

use crate::ids::OrderId;
use crate::order::QUANTITY_MAX;
use crate::text::{CustomerId, Email, Sku};

/// How a repeated request is recognised: hashes of the `Idempotency-Key` and of the parsed body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// SHA-256 of the key; the key itself is a secret and is not kept.
    pub key: [u8; 32],
    /// SHA-256 of what was asked, after parsing.
    pub body: [u8; 32],
}

/// What a buyer asks for, parsed.
#[derive(Clone, Debug)]
pub struct NewOrder {
    /// Made before the set, so that a set whose commit was in doubt can be run again.
    pub id: OrderId,
    /// Who buys.
    pub customer: CustomerId,
    /// Where to write.
    pub email: Option<Email>,
    /// Sku and quantity, each sku once.
    lines: Vec<(Sku, i64)>,
    /// Set when the client wants repeats to be harmless.
    pub request: Option<RequestKey>,
}

/// Lines that make no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLines {
    /// No line at all.
    #[error("is empty: give at least one line")]
    None,
    /// More lines than an order may have.
    #[error("has too many lines: give at most {LINES_MAX}")]
    TooMany,
    /// A quantity below 1, or more codes than one order may have.
    #[error("is not a quantity: give a whole number from 1 to {QUANTITY_MAX}, in all lines together")]
    Quantity {
        /// The line, from 0.
        line: usize,
    },
}

/// The most lines in one order.
pub const LINES_MAX: usize = 100;

impl NewOrder {
    /// An order of `lines`; lines with one sku are merged, in the order of their first mention.
    ///
    /// # Errors
    /// [`BadLines`] when there are none, too many, or a quantity is out of its bounds.
    pub fn new(
        id: OrderId,
        customer: CustomerId,
        email: Option<Email>,
        lines: Vec<(Sku, i64)>,
        request: Option<RequestKey>,
    ) -> Result<Self, BadLines> {
        if lines.is_empty() {
            return Err(BadLines::None);
        }
        if lines.len() > LINES_MAX {
            return Err(BadLines::TooMany);
        }
        let mut total = 0_i64;
        let mut merged: Vec<(Sku, i64)> = Vec::with_capacity(lines.len());
        for (line, (sku, quantity)) in lines.into_iter().enumerate() {
            total = total.saturating_add(quantity);
            if quantity < 1 || total > QUANTITY_MAX {
                return Err(BadLines::Quantity { line });
            }
            match merged.iter_mut().find(|(s, _)| *s == sku) {
                Some((_, sum)) => *sum += quantity,
                None => merged.push((sku, quantity)),
            }
        }
        Ok(Self { id, customer, email, lines: merged, request })
    }

    /// Sku and quantity, each sku once.
    pub fn lines(&self) -> &[(Sku, i64)] {
        &self.lines
    }
}
