//! Events: facts of the shop that are published. Ids only, never a code or a token.

use crate::ids::{EventId, OrderId, ProductId};
use crate::time::Timestamp;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// An order was paid, or should be looked at again by the issuer.
    OrderPaid(OrderId),
    /// Codes of a product were added.
    StockAdded(ProductId),
}

impl Fact {
    /// The event's name: the message's type and the head of its routing key.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OrderPaid(_) => "order.paid",
            Self::StockAdded(_) => "stock.added",
        }
    }
}

/// A fact with its id and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The same for every time it is published.
    pub id: EventId,
    /// What happened.
    pub fact: Fact,
    /// The lowest product id it concerns: what the partition is chosen by.
    pub product: ProductId,
    /// When.
    pub at: Timestamp,
}

/// The issuer queue of a product: a fixed hash, so that every process routes alike.
///
/// FNV-1a over the id's bytes (Fowler, Noll, Vo), reduced modulo the number of partitions.
pub fn partition_of(product: ProductId, partitions: u16) -> u16 {
    let hash = product
        .uuid()
        .as_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    u16::try_from(hash % u64::from(partitions.max(1))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partition_of_a_product_never_changes() {
        let product = ProductId::new(Timestamp::from_micros(1_000_000), [7; 10]);
        assert_eq!(partition_of(product, 1), 0);
        assert_eq!(partition_of(product, 0), 0);
        assert_eq!([partition_of(product, 4), partition_of(product, 7)], [0, 6]);
    }
}
