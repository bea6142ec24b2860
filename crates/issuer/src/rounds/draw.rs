//! The draw: a full round gets its winner when it is time, once.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tessera_model::draw::{self, EntropyRule, Proof};
use tessera_model::ids::BatchId;
use tessera_model::round::{Drawn, Round, RoundState};
use tessera_store::operators::AuditEntry;
use tessera_store::{Result, Step, StoreError, Tx};

use super::{Mint, ledger};

/// The step. Its inputs were due when they were read; under the lock they are looked at again.
pub struct Draw {
    mint: Mint,
}

/// What became of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawOutcome {
    /// It has its winner, from now on.
    Drawn(Drawn),
    /// It had one already.
    Known(Drawn),
    /// It is not full, it is not time, it was called off, or issuing is suspended.
    NotDue,
    /// None of its shares was sold, all were burned: it is called off, from now on.
    Nobodys,
    /// Its beacon's value is not known yet: it waits, and no other value takes its place.
    Waits,
    /// There is no such round.
    Unknown,
}

impl Draw {
    /// The step with its keys.
    pub fn new(mint: Mint) -> Self {
        Self { mint }
    }

    async fn one(&self, tx: &mut dyn Tx, round: &Round) -> Result<DrawOutcome> {
        let now = tx.now();
        match (round.state, round.drawn) {
            (RoundState::Drawn, Some(drawn)) => return Ok(DrawOutcome::Known(drawn)),
            (RoundState::Full, None) if round.draw_at.is_some_and(|at| at <= now) => {}
            _ => return Ok(DrawOutcome::NotDue),
        }
        if round.is_nobodys() {
            return Ok(DrawOutcome::Nobodys);
        }
        if round.entropy_rule != EntropyRule::None && round.entropy.is_none() {
            return Ok(DrawOutcome::Waits);
        }
        let proof = made(tx, &self.mint, round, now).await?;
        if proof.commitment != round.commitment {
            return Err(StoreError::inconsistent("round", "commitment"));
        }
        if proof.digest != round.digest {
            return Err(StoreError::inconsistent("round", "digest"));
        }
        let drawn = Drawn { at: now, position: proof.winning_position, number: proof.winning_number };
        Ok(DrawOutcome::Drawn(drawn))
    }
}

#[async_trait]
impl Step for Draw {
    const NAME: &str = "draw";
    type Input = BatchId;
    type Output = DrawOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[BatchId], _again: bool) -> Result<Vec<DrawOutcome>> {
        // An older copy may have forgotten shares; what it draws would stay drawn.
        if tx.meta().await?.suspended {
            return Ok(vec![DrawOutcome::NotDue; inputs.len()]);
        }
        let rounds: BTreeMap<BatchId, Round> =
            tx.rounds_lock(inputs).await?.into_iter().map(|round| (round.id, round)).collect();
        let mut outcomes = BTreeMap::new();
        for round in rounds.values() {
            outcomes.insert(round.id, self.one(tx, round).await?);
        }
        let drawn: Vec<(BatchId, Drawn)> = outcomes
            .iter()
            .filter_map(|(id, outcome)| match outcome {
                DrawOutcome::Drawn(drawn) => Some((*id, *drawn)),
                _ => None,
            })
            .collect();
        if !drawn.is_empty() {
            tx.rounds_drawn(&drawn).await?;
        }
        for (id, _) in outcomes.iter().filter(|(_, outcome)| **outcome == DrawOutcome::Nobodys) {
            cancel(tx, *id).await?;
        }
        Ok(inputs.iter().map(|id| outcomes.get(id).copied().unwrap_or(DrawOutcome::Unknown)).collect())
    }
}

/// Calls off a round that nobody can win, with an audit entry in the same transaction.
async fn cancel(tx: &mut dyn Tx, id: BatchId) -> Result<()> {
    tx.rounds_cancel(id).await?;
    let entry = AuditEntry {
        actor: "housekeeper".to_owned(),
        action: "round.cancel".to_owned(),
        subject: id.to_string(),
        reason: Some("none of its shares was sold".to_owned()),
    };
    tx.audit_append(&[entry]).await
}

/// The proof of a round that was drawn; `None` before.
///
/// # Errors
/// `Data` when what is stored makes no such draw.
pub async fn proof(tx: &mut dyn Tx, mint: &Mint, round: &Round) -> Result<Option<Proof>> {
    let Some(drawn) = round.drawn else { return Ok(None) };
    let proof = made(tx, mint, round, drawn.at).await?;
    let same = (proof.winning_position, proof.winning_number) == (drawn.position, drawn.number);
    if !same || proof.digest != round.digest || proof.commitment != round.commitment {
        return Err(StoreError::inconsistent("round", "winning_position"));
    }
    Ok(Some(proof))
}

async fn made(
    tx: &mut dyn Tx,
    mint: &Mint,
    round: &Round,
    at: tessera_model::time::Timestamp,
) -> Result<Proof> {
    let key = tx.raffles_key(round.product).await?;
    let key = key.ok_or_else(|| StoreError::inconsistent("raffle", "wrapped"))?;
    let seed = draw::seed_of(&mint.secret(round.product, &key)?, round.number, round.id);
    let entropy = round.entropy.as_deref().unwrap_or_default();
    let ledger = ledger(tx, round.id).await?;
    draw::draw(&round.terms(), &seed, round.entropy_rule, entropy, ledger, at)
        .map_err(|fault| StoreError::Data(format!("round {} cannot be drawn: {fault}", round.id)))
}
