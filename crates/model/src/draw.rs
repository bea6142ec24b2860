//! The draw of a raffle round, and the proof of it that anybody can check.
//!
//! A round publishes the [`commitment`] to its seed and its [`EntropyRule`] when it opens. Each share sold goes
//! into a running digest, so that the ledger of a full round is fixed before anybody reads it. The [`draw`] then
//! takes HMAC-SHA256 under the seed of round, digest and entropy, reduced without bias over the shares in the
//! ledger; a burned position is in no entry and cannot win. `docs/draw.md` has the encodings byte by byte, and a
//! verification that shares no code with this one.

mod digest;
mod entropy;
mod proof;
mod winner;

#[cfg(test)]
mod tests;

pub use digest::{commitment, digest_add, digest_begin, digest_of, numbering, order_hash, seed_of};
pub use entropy::{BEACON_DELAY, Beacon, EntropyRule};
pub use proof::{DrawFault, Proof, ProofFault, draw, verify};

use crate::ids::{BatchId, OrderId};
use crate::text::Sku;

/// What a round is, fixed when it opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTerms {
    /// Its id, that of its batch.
    pub id: BatchId,
    /// The raffle.
    pub sku: Sku,
    /// Which of the raffle's rounds, from 1.
    pub number: i64,
    /// Positions: how many shares there are, at least 1.
    pub shares: i64,
    /// The lowest of the numbers that buyers get, 0 or above.
    pub first_number: i64,
}

impl RoundTerms {
    /// Whether the figures can be those of a round, its last number within `i64` included.
    fn hold(&self) -> bool {
        let last = self.first_number.checked_add(self.shares);
        self.number >= 1 && self.shares >= 1 && self.first_number >= 0 && last.is_some()
    }
}

/// Shares of one order, as the ledger names them: positions `start..upto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// SHA-256 of the order id's hyphenated text: a buyer recognises the own order, nobody learns another's.
    pub order: [u8; 32],
    /// The first position.
    pub start: i64,
    /// The position after the last.
    pub upto: i64,
}

impl LedgerEntry {
    /// The entry for these positions of an order.
    pub fn new(order: OrderId, start: i64, upto: i64) -> Self {
        Self { order: order_hash(order), start, upto }
    }
}
