//! Where a product's codes come from.

use std::time::Duration;

use crate::coupon::Format;
use crate::draw::EntropyRule;
use crate::time::Timestamp;

/// Where a product's codes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Imported files of codes.
    Codes,
    /// Codes computed by a format.
    Coupon(Coupon),
    /// Numbers of rounds, one of which wins in each.
    Raffle(Raffle),
}

/// What a coupon is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coupon {
    /// How many codes were asked for so far; a higher count adds a pool.
    pub count: i64,
    /// What its codes look like.
    pub format: Format,
    /// When those of the next pool are of no use any more.
    pub expires_at: Option<Timestamp>,
}

/// What a raffle is made of: what is said counts for rounds that open later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raffle {
    /// The shares of a round, 1 to [`SHARES_MAX`].
    pub shares: i64,
    /// The lowest number of a round, 0 to [`FIRST_NUMBER_MAX`].
    pub first_number: i64,
    /// From a full round to its draw.
    pub draw_after: Duration,
    /// After this round there is no other.
    pub last_round: Option<i64>,
    /// What the draw takes beside the seed.
    pub entropy_rule: EntropyRule,
}

/// The most shares of a round: all of them are read once, for the draw.
pub const SHARES_MAX: i64 = 1_000_000;

/// The largest first number: buyers read twelve digits.
pub const FIRST_NUMBER_MAX: i64 = 999_999_999_999;

/// An order of a raffle takes at most so many times a round's shares.
pub const ROUNDS_PER_ORDER_MAX: i64 = 15;

impl Kind {
    /// The word in SQL and JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Codes => "codes",
            Self::Coupon(_) => "coupon",
            Self::Raffle(_) => "raffle",
        }
    }

    /// What it is as a coupon.
    pub const fn coupon(&self) -> Option<&Coupon> {
        match self {
            Self::Coupon(coupon) => Some(coupon),
            Self::Codes | Self::Raffle(_) => None,
        }
    }

    /// What it is as a raffle.
    pub const fn raffle(&self) -> Option<&Raffle> {
        match self {
            Self::Raffle(raffle) => Some(raffle),
            Self::Codes | Self::Coupon(_) => None,
        }
    }
}

impl Raffle {
    /// Whether a round may follow the round `number`.
    pub fn goes_on_after(&self, number: i64) -> bool {
        self.last_round.is_none_or(|last| number < last)
    }
}
