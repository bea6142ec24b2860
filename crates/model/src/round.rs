//! Rounds: what a raffle is sold in, one after the other, each a batch whose positions are shares.

use std::time::Duration;

use crate::batch::OpenBatch;
use crate::draw::{self, EntropyRule, RoundTerms};
use crate::ids::{BatchId, OrderId, ProductId};
use crate::keys::Secret;
use crate::product::Raffle;
use crate::span::{Span, SpanKind};
use crate::text::Sku;
use crate::time::Timestamp;

mod room;

pub use room::{Fit, RaffleRoom, Settled, Turned};

#[cfg(test)]
pub(crate) mod tests;

/// Where a round is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundState {
    /// Its shares are sold.
    Open,
    /// Every share is sold or burned; the draw is to come.
    Full,
    /// It has its winner.
    Drawn,
    /// It was called off before the draw: by an operator, or because none of its shares was sold.
    Cancelled,
}

impl RoundState {
    /// The word in SQL and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Full => "full",
            Self::Drawn => "drawn",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Full, Self::Drawn, Self::Cancelled].into_iter().find(|s| s.as_str() == text)
    }
}

/// A round as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Its id, which is its batch's.
    pub id: BatchId,
    /// The raffle.
    pub product: ProductId,
    /// The raffle's sku.
    pub sku: Sku,
    /// Counts the raffle's rounds from 1.
    pub number: i64,
    /// Where it is.
    pub state: RoundState,
    /// How many shares it has.
    pub shares: i64,
    /// How many of them are sold.
    pub sold: i64,
    /// The lowest of its numbers.
    pub first_number: i64,
    /// SHA-256 of the seed.
    pub commitment: [u8; 32],
    /// What the draw takes beside the seed.
    pub entropy_rule: EntropyRule,
    /// Of the beacon, once it is known.
    pub entropy: Option<Vec<u8>>,
    /// Of the shares sold so far; final once it is full.
    pub digest: [u8; 32],
    /// When it opened.
    pub opened_at: Timestamp,
    /// When its last share was sold.
    pub full_at: Option<Timestamp>,
    /// When it is drawn.
    pub draw_at: Option<Timestamp>,
    /// What was drawn, and when.
    pub drawn: Option<Drawn>,
}

/// The outcome of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// When.
    pub at: Timestamp,
    /// The share that won.
    pub position: i64,
    /// Its number.
    pub number: i64,
}

impl Round {
    /// Whether nobody can win it: all of it was burned, and none of it sold.
    pub const fn is_nobodys(&self) -> bool {
        matches!(self.state, RoundState::Full) && self.sold == 0
    }

    /// What its proof begins with.
    pub fn terms(&self) -> RoundTerms {
        RoundTerms {
            id: self.id,
            sku: self.sku.clone(),
            number: self.number,
            shares: self.shares,
            first_number: self.first_number,
        }
    }
}

/// A round that is on sale, under lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRound {
    /// Counts the raffle's rounds from 1.
    pub number: i64,
    /// Of the shares sold so far.
    pub digest: [u8; 32],
    /// Its shares.
    pub batch: OpenBatch,
}

impl OpenRound {
    /// Gives up to `quantity` shares to a line; returns how many there were.
    fn take(
        &mut self,
        quantity: i64,
        order: OrderId,
        line: i32,
        part: &mut i32,
        spans: &mut Vec<Span>,
    ) -> i64 {
        let from = spans.len();
        let given = self.batch.take(quantity, order, line, part, spans);
        for span in spans.iter().skip(from).filter(|span| span.kind == SpanKind::Issue) {
            self.digest = draw::digest_add(self.digest, order, span.start, span.upto);
        }
        given
    }
}

/// A round about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRound {
    /// Its id, which is its batch's.
    pub id: BatchId,
    /// The raffle.
    pub product: ProductId,
    /// Counts the raffle's rounds from 1.
    pub number: i64,
    /// How many shares it has.
    pub shares: i64,
    /// The lowest of its numbers.
    pub first_number: i64,
    /// From full to the draw.
    pub draw_after: Duration,
    /// What the draw takes beside the seed.
    pub entropy_rule: EntropyRule,
    /// SHA-256 of the seed.
    pub commitment: [u8; 32],
    /// Of no shares yet.
    pub digest: [u8; 32],
}

impl NewRound {
    /// The round `number` of a raffle whose own key is `secret`.
    pub fn of(
        product: (ProductId, &Sku),
        raffle: &Raffle,
        number: i64,
        secret: &Secret,
        id: BatchId,
    ) -> Self {
        let (product, sku) = product;
        let Raffle { shares, first_number, draw_after, entropy_rule, .. } = *raffle;
        let terms = RoundTerms { id, sku: sku.clone(), number, shares, first_number };
        Self {
            id,
            product,
            number,
            shares,
            first_number,
            draw_after,
            entropy_rule,
            commitment: draw::commitment(&draw::seed_of(secret, number, id)),
            digest: draw::digest_begin(&terms),
        }
    }
}
