//! The value of a beacon that a round's draw waits for.

use std::sync::Arc;

use tessera_model::draw::EntropyRule;
use tessera_model::ids::BatchId;
use tessera_model::round::RoundState;
use tessera_store::operators::AuditEntry;
use tessera_store::{Result, Store, run_alone};

/// What became of a beacon's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeaconOutcome {
    /// It is kept, as the value of this round of the beacon; the draw follows by itself.
    Kept(u64),
    /// The draw takes no beacon.
    NoBeacon,
    /// The round is not full, so it is not known which value decides.
    NotFull,
    /// The round is in this state, or has its value: none takes another's place.
    Past(RoundState),
    /// There is no such round.
    Unknown,
}

/// Keeps the value that decides a full round, with an audit entry in the same transaction.
///
/// Which round of the beacon it has to be of follows from when the round filled; that it is the published one anybody
/// can see from the proof.
///
/// # Errors
/// The store's.
pub async fn keep_beacon(
    store: &Arc<dyn Store>,
    id: BatchId,
    randomness: [u8; 32],
    actor: String,
) -> Result<BeaconOutcome> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let Some(round) = tx.rounds_lock(&[id]).await?.pop() else { return Ok(BeaconOutcome::Unknown) };
        if round.entropy_rule == EntropyRule::None {
            return Ok(BeaconOutcome::NoBeacon);
        }
        let decides = round.full_at.and_then(|at| round.entropy_rule.beacon_round(at));
        let Some(decides) = decides else { return Ok(BeaconOutcome::NotFull) };
        if !tx.rounds_entropy(id, &round.entropy_rule.entropy(decides, &randomness)).await? {
            return Ok(BeaconOutcome::Past(round.state));
        }
        let entry = AuditEntry {
            actor,
            action: "round.entropy".to_owned(),
            subject: id.to_string(),
            reason: Some(format!("the beacon's round {decides}")),
        };
        tx.audit_append(&[entry]).await?;
        tx.commit().await?;
        Ok(BeaconOutcome::Kept(decides))
    })
    .await
}
