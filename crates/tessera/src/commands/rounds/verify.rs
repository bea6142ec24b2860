//! `tessera rounds verify`.

use std::fs::File;
use std::io::Read;

use serde_json::json;
use tessera_api::wire::ProofBody;
use tessera_model::draw::{EntropyRule, Proof, verify};

use crate::Outcome;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// The most bytes of a proof's file: 130 for an entry, so more than 500 000 orders in one round.
const PROOF_BYTES_MAX: u64 = 64 << 20;

/// Needs the file of the proof, and nothing else.
pub(super) fn file(path: &str, output: Output) -> Outcome {
    let body = ProofBody::read(&bytes(path)?)
        .map_err(|e| Failure::no(format!("the proof does not hold: it is not one: {e}")))?;
    print(&body, output)
}

/// Draws again from a proof.
pub(super) fn print(body: &ProofBody, output: Output) -> Outcome {
    let proof = body.proof().map_err(|e| Failure::no(format!("the proof does not hold: {e}")))?;
    verify(&proof).map_err(|e| Failure::no(format!("the proof does not hold: {e}")))?;
    let answer = json!({ "holds": true, "proof": body });
    output.print(&answer, |_| text(&proof))?;
    Ok(Exit::Done)
}

fn bytes(path: &str) -> Result<Vec<u8>, Failure> {
    let unreadable = |e: std::io::Error| Failure::usage(format!("{path} cannot be read: {e}"));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(PROOF_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= PROOF_BYTES_MAX) {
        true => Ok(bytes),
        false => Err(Failure::usage(format!("{path} is longer than {PROOF_BYTES_MAX} bytes: no proof is"))),
    }
}

fn text(proof: &Proof) -> String {
    let round = &proof.round;
    let sold: i64 = proof.ledger.iter().map(|entry| entry.upto - entry.start).sum();
    let wins =
        format!("holds: number {} of {}, round {}, wins", proof.winning_number, round.sku, round.number);
    let known = match proof.entropy_rule {
        EntropyRule::None => "entropy rule none: the operator could know the winner once the round was full",
        EntropyRule::Beacon(_) => "compare the entropy with the beacon's public value; docs/draw.md says how",
    };
    format!(
        "{wins}\n  {sold} of {} shares were sold, in {} parts\n  \
         compare commitment and digest with those published before the draw\n  {known}",
        round.shares,
        proof.ledger.len(),
    )
}
