//! From a ledger to the share that wins.

use super::{LedgerEntry, RoundTerms};
use crate::keys::{Secret, mac};

/// How often a word may be rejected. At worst half of them are, so this many in a row never happen.
const WORDS_MAX: u64 = 256;

/// What decides, beside the seed.
pub(super) struct Lot<'a> {
    /// The digest of the round before it sold anything.
    pub(super) round: [u8; 32],
    /// The digest of its ledger.
    pub(super) digest: [u8; 32],
    /// What the entropy rule adds.
    pub(super) entropy: &'a [u8],
}

impl Lot<'_> {
    /// Which of `sold` shares wins, counted along the ledger. `None` when none was sold.
    pub(super) fn pick(&self, seed: &Secret, sold: u64) -> Option<u64> {
        (0..WORDS_MAX).find_map(|counter| reduce(self.word(seed, counter), sold))
    }

    fn word(&self, seed: &Secret, counter: u64) -> u64 {
        let counter = counter.to_be_bytes();
        let parts = [&b"tessera draw winner 1"[..], &self.round, &self.digest, self.entropy, &counter];
        let full = mac(seed, &parts);
        full.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }
}

/// `word` below `sold`, each result equally likely; `None` if the word is beyond the last whole multiple of `sold`.
pub(super) fn reduce(word: u64, sold: u64) -> Option<u64> {
    let sold = u128::from(sold);
    let whole = (1_u128 << 64).checked_div(sold)?.checked_mul(sold)?;
    let index = u128::from(word).checked_rem(sold).filter(|_| u128::from(word) < whole)?;
    u64::try_from(index).ok()
}

/// How many shares the ledger holds.
///
/// # Errors
/// The first entry that is empty, leaves the round, or does not follow the one before it.
pub(super) fn sold(round: &RoundTerms, ledger: &[LedgerEntry]) -> Result<u64, usize> {
    let (mut sold, mut free_from) = (0_u64, 0);
    for (n, entry) in ledger.iter().enumerate() {
        let fits = entry.start >= free_from && entry.upto > entry.start && entry.upto <= round.shares;
        // Of disjoint intervals within `0..shares` the sum cannot overflow.
        let count = entry.upto.checked_sub(entry.start).and_then(|count| u64::try_from(count).ok());
        sold = count.filter(|_| fits).and_then(|count| sold.checked_add(count)).ok_or(n)?;
        free_from = entry.upto;
    }
    Ok(sold)
}

/// The position of the share with this index along a ledger that [`sold`] found in order.
pub(super) fn position(ledger: &[LedgerEntry], index: u64) -> Option<i64> {
    let mut rest = i64::try_from(index).ok()?;
    for entry in ledger {
        let count = entry.upto.checked_sub(entry.start)?;
        if rest < count {
            return entry.start.checked_add(rest);
        }
        rest = rest.checked_sub(count)?;
    }
    None
}
