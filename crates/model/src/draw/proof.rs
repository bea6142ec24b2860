//! The draw itself, and the check that a published proof is one.

use super::digest::{commitment, digest_begin, digest_of, hash, numbering};
use super::winner::{Lot, position, sold};
use super::{EntropyRule, LedgerEntry, RoundTerms};
use crate::keys::Secret;
use crate::time::Timestamp;

/// All that anybody needs to draw again and see the same winner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The round.
    pub round: RoundTerms,
    /// What was published of the seed when the round opened.
    pub commitment: [u8; 32],
    /// The seed, which nobody but the operator knew before.
    pub seed: [u8; 32],
    /// Where the entropy came from.
    pub entropy_rule: EntropyRule,
    /// The entropy; see [`EntropyRule::entropy`].
    pub entropy: Vec<u8>,
    /// Who had which positions, in order of position. What is in no entry was burned.
    pub ledger: Vec<LedgerEntry>,
    /// The digest of round and ledger, published when the round was full.
    pub digest: [u8; 32],
    /// The position that wins.
    pub winning_position: i64,
    /// The number it bears.
    pub winning_number: i64,
    /// When it was drawn.
    pub drawn_at: Timestamp,
    /// A hash over all of the above.
    ///
    /// It shows a typing error in any field, or a change by somebody who does not make a new seal. Anybody can
    /// make one, so it proves neither who drew nor when; the commitment and digest published before do the work.
    pub seal: [u8; 32],
}

/// Why there is no draw of these figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrawFault {
    /// No round has such figures.
    #[error(
        "the round's figures are out of range: number and shares from 1, first number from 0, all within 63 bits"
    )]
    Round,
    /// An entry that cannot stand where it does.
    #[error("ledger entry {entry} is empty, leaves the round, or does not follow the one before it")]
    Ledger {
        /// Which, from 0.
        entry: usize,
    },
    /// No share was sold, so none can win.
    #[error("the ledger is empty: no share was sold that could win")]
    NothingSold,
    /// Entropy of another kind than the rule says, or of a beacon's round that was not due.
    #[error("the entropy is not what the entropy rule gives at the time of the draw")]
    Entropy,
}

/// What of a proof does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofFault {
    /// Nothing can be drawn from its figures.
    #[error(transparent)]
    Draw(#[from] DrawFault),
    /// The seed is not the one that was committed to.
    #[error("the commitment is not the SHA-256 of the seed")]
    Commitment,
    /// Round or ledger are not those that were published.
    #[error("the digest is not that of round and ledger")]
    Digest,
    /// Another position wins.
    #[error("the winning position is not the one that seed, digest and entropy give")]
    WinningPosition,
    /// The position bears another number.
    #[error("the winning number is not the one that the winning position bears")]
    WinningNumber,
    /// Some field was changed after the proof was made.
    #[error("the seal is not that of the other fields: one of them was changed")]
    Seal,
}

struct Outcome {
    digest: [u8; 32],
    position: i64,
    number: i64,
}

/// Draws a full round. The same arguments give the same proof.
///
/// # Errors
/// [`DrawFault`] when the figures are none of a round, or nothing was sold.
pub fn draw(
    round: &RoundTerms,
    seed: &Secret,
    rule: EntropyRule,
    entropy: &[u8],
    ledger: Vec<LedgerEntry>,
    drawn_at: Timestamp,
) -> Result<Proof, DrawFault> {
    if !rule.admits(entropy, drawn_at) {
        return Err(DrawFault::Entropy);
    }
    let outcome = outcome(round, seed, entropy, &ledger)?;
    let mut proof = Proof {
        round: round.clone(),
        commitment: commitment(seed),
        seed: *seed.bytes(),
        entropy_rule: rule,
        entropy: entropy.to_vec(),
        ledger,
        digest: outcome.digest,
        winning_position: outcome.position,
        winning_number: outcome.number,
        drawn_at,
        seal: [0; 32],
    };
    proof.seal = seal(&proof);
    Ok(proof)
}

/// Draws again and compares. Takes nothing on trust but that commitment and digest are those published before.
///
/// The work is one hash per ledger entry and one for each other field, whatever the figures say.
///
/// # Errors
/// [`ProofFault`] names the first thing that does not hold.
pub fn verify(proof: &Proof) -> Result<(), ProofFault> {
    let seed = Secret::new(proof.seed);
    let holds = |holds: bool, fault| if holds { Ok(()) } else { Err(fault) };
    holds(commitment(&seed) == proof.commitment, ProofFault::Commitment)?;
    let outcome = outcome(&proof.round, &seed, &proof.entropy, &proof.ledger)?;
    holds(outcome.digest == proof.digest, ProofFault::Digest)?;
    let admitted = proof.entropy_rule.admits(&proof.entropy, proof.drawn_at);
    holds(admitted, DrawFault::Entropy.into())?;
    holds(outcome.position == proof.winning_position, ProofFault::WinningPosition)?;
    holds(outcome.number == proof.winning_number, ProofFault::WinningNumber)?;
    holds(seal(proof) == proof.seal, ProofFault::Seal)
}

fn outcome(
    round: &RoundTerms,
    seed: &Secret,
    entropy: &[u8],
    ledger: &[LedgerEntry],
) -> Result<Outcome, DrawFault> {
    if !round.hold() {
        return Err(DrawFault::Round);
    }
    let sold = sold(round, ledger).map_err(|entry| DrawFault::Ledger { entry })?;
    let digest = digest_of(round, ledger);
    let lot = Lot { round: digest_begin(round), digest, entropy };
    let position = lot.pick(seed, sold).and_then(|index| position(ledger, index));
    let position = position.ok_or(DrawFault::NothingSold)?;
    let offset = numbering(seed, round.shares).of(position);
    let number = offset.and_then(|offset| round.first_number.checked_add(offset));
    Ok(Outcome { digest, position, number: number.ok_or(DrawFault::Round)? })
}

/// The hash over every field; round and ledger are in it by their digest.
fn seal(proof: &Proof) -> [u8; 32] {
    hash(&[
        b"tessera draw seal 1",
        &proof.commitment,
        &proof.seed,
        proof.entropy_rule.as_str().as_bytes(),
        &proof.entropy,
        &proof.digest,
        &proof.winning_position.to_be_bytes(),
        &proof.winning_number.to_be_bytes(),
        &proof.drawn_at.micros().to_be_bytes(),
    ])
}
