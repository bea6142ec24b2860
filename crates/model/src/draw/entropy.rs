//! Where the part of a draw comes from that the operator could not choose.

use std::time::Duration;

use crate::time::Timestamp;

/// How long after a round is full the beacon's value is published that decides it, at the earliest.
///
/// Twice the 30 s by which a clock may jump before expiry is suspended: a shop whose clock is that wrong still
/// cannot name a value that was known when the round filled.
pub const BEACON_DELAY: Duration = Duration::from_mins(1);

/// Unix time of the first value of drand's quicknet, in seconds (<https://api.drand.sh/v2/beacons/quicknet/info>).
const QUICKNET_GENESIS: i64 = 1_692_803_367;
/// Seconds between two values of quicknet.
const QUICKNET_PERIOD: i64 = 3;

const MICROS: i64 = 1_000_000;

/// A public source of values that nobody knows before their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beacon {
    /// The League of Entropy's `quicknet` chain: a value every 3 s.
    DrandQuicknet,
}

/// What goes into a draw beside the seed, announced when the round opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntropyRule {
    /// Nothing: the operator, who knows the seed, can know the winner as soon as the round is full.
    None,
    /// A beacon's value that is published only after the round is full.
    Beacon(Beacon),
}

impl EntropyRule {
    /// The text in SQL and JSON: `none` or `drand:quicknet`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Beacon(Beacon::DrandQuicknet) => "drand:quicknet",
        }
    }

    /// Reads the text.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::None, Self::Beacon(Beacon::DrandQuicknet)].into_iter().find(|r| r.as_str() == text)
    }

    /// The beacon's round that decides a round filled at `full_at`: the first one due [`BEACON_DELAY`] later or
    /// after that. `None` without a beacon.
    pub fn beacon_round(self, full_at: Timestamp) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Beacon(Beacon::DrandQuicknet) => {
                let wait = full_at.plus(BEACON_DELAY).micros().saturating_sub(QUICKNET_GENESIS * MICROS);
                let step = QUICKNET_PERIOD * MICROS;
                // Rounded up without overflow: a value of before the delay was over does not count.
                let after_first = wait.max(0) / step + i64::from(wait.max(0) % step != 0);
                u64::try_from(after_first + 1).ok()
            }
        }
    }

    /// The entropy of a draw: the beacon's round in eight bytes, then its 32 bytes of randomness.
    ///
    /// Empty without a beacon.
    pub fn entropy(self, beacon_round: u64, randomness: &[u8; 32]) -> Vec<u8> {
        match self {
            Self::None => Vec::new(),
            Self::Beacon(_) => [&beacon_round.to_be_bytes()[..], randomness].concat(),
        }
    }

    /// Whether a draw at `drawn_at` can have had these bytes: none without a beacon, else those of a value that
    /// was due by then.
    pub(super) fn admits(self, entropy: &[u8], drawn_at: Timestamp) -> bool {
        match self {
            Self::None => entropy.is_empty(),
            Self::Beacon(beacon) => {
                let round = entropy.first_chunk().map(|bytes| u64::from_be_bytes(*bytes));
                let due = round.and_then(|round| beacon.due(round));
                entropy.len() == 40 && due.is_some_and(|due| due <= drawn_at)
            }
        }
    }
}

impl Beacon {
    /// When a value is published; `None` for a round there is not.
    pub fn due(self, round: u64) -> Option<Timestamp> {
        let Self::DrandQuicknet = self;
        let after_first = i64::try_from(round.checked_sub(1)?).ok()?;
        let seconds = after_first.checked_mul(QUICKNET_PERIOD)?.checked_add(QUICKNET_GENESIS)?;
        seconds.checked_mul(MICROS).map(Timestamp::from_micros)
    }
}
