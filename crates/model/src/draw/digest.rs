//! What is hashed, and how: each part behind its length, the first part naming purpose and version.

use sha2::{Digest, Sha256};

use super::{LedgerEntry, RoundTerms};
use crate::ids::{BatchId, OrderId};
use crate::keys::{Secret, mac};
use crate::permutation::Permutation;

/// SHA-256 of the parts, each behind its length in eight bytes, so that no two lists of parts collide.
pub(super) fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The seed of a round, derived from the raffle's key, so that a re-run gives the same commitment.
///
/// Of the round's id as well: after a restore another round may get the number of one that was drawn and is forgotten.
pub fn seed_of(raffle: &Secret, number: i64, id: BatchId) -> Secret {
    Secret::new(mac(raffle, &[b"tessera draw seed 1", &number.to_be_bytes(), id.uuid().as_bytes()]))
}

/// What is published of a seed when its round opens: its bare SHA-256.
pub fn commitment(seed: &Secret) -> [u8; 32] {
    Sha256::digest(seed.bytes()).into()
}

/// Which number a position bears, as the offset from the round's first number.
///
/// Derived from the seed, so that the proof shows it too. Has no positions when `shares` is below 1.
pub fn numbering(seed: &Secret, shares: i64) -> Permutation {
    Permutation::new(&mac(seed, &[b"tessera draw numbers 1"]), shares)
}

/// How a ledger names an order: SHA-256 of the hyphenated text of its id.
pub fn order_hash(order: OrderId) -> [u8; 32] {
    Sha256::digest(order.to_string().as_bytes()).into()
}

/// The running digest of a round that has sold nothing yet.
pub fn digest_begin(round: &RoundTerms) -> [u8; 32] {
    hash(&[
        b"tessera draw round 1",
        round.id.to_string().as_bytes(),
        round.sku.as_str().as_bytes(),
        &round.number.to_be_bytes(),
        &round.shares.to_be_bytes(),
        &round.first_number.to_be_bytes(),
    ])
}

/// The running digest after an order got the positions `start..upto`: the work of one hash, whatever was sold.
///
/// Nothing is checked here; [`super::verify`] refuses entries that overlap or leave the round.
pub fn digest_add(digest: [u8; 32], order: OrderId, start: i64, upto: i64) -> [u8; 32] {
    add(digest, &LedgerEntry::new(order, start, upto))
}

/// The digest of a whole ledger.
pub fn digest_of(round: &RoundTerms, ledger: &[LedgerEntry]) -> [u8; 32] {
    ledger.iter().fold(digest_begin(round), add)
}

fn add(digest: [u8; 32], entry: &LedgerEntry) -> [u8; 32] {
    let (start, upto) = (entry.start.to_be_bytes(), entry.upto.to_be_bytes());
    hash(&[b"tessera draw entry 1", &digest, &entry.order, &start, &upto])
}
