//! A keyed permutation of `0..size`: which code stands at a position when a batch picks at random.
//!
//! A balanced Feistel network over the smallest even number of bits that holds the size, walked until it
//! lands inside (cycle walking; Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). The
//! domain is less than four times the size, so a walk takes under four steps on average. The round function
//! is HMAC-SHA256, eight rounds.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const ROUNDS: u8 = 8;

/// A permutation of `0..size` under a key; computed, never stored.
pub struct Permutation {
    mac: Hmac<Sha256>,
    size: u64,
    half_bits: u32,
}

impl Permutation {
    /// The permutation of `0..size` under `key`. A size below 1 has no positions.
    pub fn new(key: &[u8; 32], size: i64) -> Self {
        let size = u64::try_from(size).unwrap_or(0);
        let bits = 64 - size.saturating_sub(1).leading_zeros();
        // HMAC takes keys of any length, so this cannot fail; an empty key would show in the test vectors.
        let mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()));
        Self { mac, size, half_bits: bits.div_ceil(2).max(1) }
    }

    /// Where `position` goes; `None` outside `0..size`.
    pub fn of(&self, position: i64) -> Option<i64> {
        let mut at = u64::try_from(position).ok().filter(|p| *p < self.size)?;
        // The network permutes its whole domain, so the walk returns to `0..size` at the latest where it began.
        loop {
            at = self.encrypt(at);
            if at < self.size {
                return i64::try_from(at).ok();
            }
        }
    }

    /// Which position goes to `image`: the way back, to tell whether a code has been given out.
    pub fn inverse(&self, image: i64) -> Option<i64> {
        let mut at = u64::try_from(image).ok().filter(|p| *p < self.size)?;
        loop {
            at = self.decrypt(at);
            if at < self.size {
                return i64::try_from(at).ok();
            }
        }
    }

    fn decrypt(&self, value: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ (self.round(round, left) & mask), left);
        }
        (left << self.half_bits) | right
    }

    fn encrypt(&self, value: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (self.round(round, right) & mask));
        }
        (left << self.half_bits) | right
    }

    fn round(&self, round: u8, half: u64) -> u64 {
        let mut mac = self.mac.clone();
        mac.update(&[round]);
        mac.update(&half.to_be_bytes());
        let digest = mac.finalize().into_bytes();
        let mut word = [0; 8];
        word.copy_from_slice(&digest[..8]);
        u64::from_be_bytes(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn every_position_is_hit_once(key in any::<[u8; 32]>(), size in 1_i64..400) {
            let permutation = Permutation::new(&key, size);
            let image: BTreeSet<i64> = (0..size).filter_map(|p| permutation.of(p)).collect();
            prop_assert_eq!(image, (0..size).collect::<BTreeSet<_>>());
            prop_assert!((0..size).all(|p| permutation.inverse(permutation.of(p).unwrap()) == Some(p)));
        }
    }

    #[test]
    fn positions_outside_have_no_image() {
        let permutation = Permutation::new(&[1; 32], 10);
        assert_eq!((permutation.of(-1), permutation.of(10)), (None, None));
        assert_eq!(Permutation::new(&[1; 32], 0).of(0), None);
    }

    #[test]
    fn another_key_is_another_order() {
        let first: Vec<_> = (0..50).map(|p| Permutation::new(&[1; 32], 50).of(p)).collect();
        let second: Vec<_> = (0..50).map(|p| Permutation::new(&[2; 32], 50).of(p)).collect();
        assert_ne!(first, second);
    }

    #[test]
    fn the_permutation_never_changes_between_versions() {
        let permutation = Permutation::new(&[7; 32], 6_800);
        let first: Vec<_> = (0..5).filter_map(|p| permutation.of(p)).collect();
        // Computed once more by an independent program from the description above.
        assert_eq!(first, [1634, 2425, 399, 4007, 5272]);
    }
}
