//! The balances of the store, and of rounds what only hashing shows.

use tessera_model::draw::digest_of;
use tessera_model::ids::BatchId;
use tessera_model::round::Round;
use tessera_store::reconcile::{Check, FAULTS_MAX, Fault};
use tessera_store::{Result, Tx};

use super::ledger;

/// Rounds that are read at a time.
const PAGE: i64 = 256;

/// Checks every balance; run it on a snapshot.
///
/// Beside what the store proves by itself, each round's digest is that of its shares: nobody's were added, moved or
/// taken away after they were sold.
///
/// # Errors
/// The store's.
pub async fn reconcile(tx: &mut dyn Tx) -> Result<Vec<Check>> {
    let mut checks = tx.reconcile().await?;
    let faults = digests(tx).await?;
    for check in checks.iter_mut().filter(|check| check.name == "rounds") {
        check.faults.extend(faults.iter().take(FAULTS_MAX.saturating_sub(check.faults.len())).cloned());
    }
    Ok(checks)
}

async fn digests(tx: &mut dyn Tx) -> Result<Vec<Fault>> {
    let (mut before, mut faults): (Option<BatchId>, Vec<Fault>) = (None, vec![]);
    loop {
        let rounds = tx.rounds_list(None, before, PAGE).await?;
        let Some(last) = rounds.last() else { return Ok(faults) };
        before = Some(last.id);
        for round in &rounds {
            faults.extend(digest(tx, round).await?);
        }
    }
}

async fn digest(tx: &mut dyn Tx, round: &Round) -> Result<Option<Fault>> {
    let shares = ledger(tx, round.id).await?;
    let holds = digest_of(&round.terms(), &shares) == round.digest;
    Ok((!holds).then(|| Fault {
        table: "round".to_owned(),
        id: round.id.to_string(),
        detail: format!("the digest is not that of its {} ledger entries", shares.len()),
    }))
}
