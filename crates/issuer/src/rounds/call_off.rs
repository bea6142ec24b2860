//! Calling a round off before its draw: the price of its shares is to be paid back.

use std::sync::Arc;

use tessera_model::ids::BatchId;
use tessera_model::round::{Round, RoundState};
use tessera_store::operators::AuditEntry;
use tessera_store::{Result, Store, Tx, commit, run_alone};

use super::{Mint, go_on_without, pay_back};
use crate::void::void_unissued;

/// What an operator says.
#[derive(Clone, Debug)]
pub struct CallOff {
    /// The round.
    pub round: BatchId,
    /// Why.
    pub reason: String,
    /// Who.
    pub actor: String,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOffOutcome {
    /// It is called off; this many orders get money back.
    CalledOff(usize),
    /// It is in this state, which is past calling off.
    Past(RoundState),
    /// There is no such round.
    Unknown,
}

/// Calls a round off, with an audit entry in the same transaction, and then pays its shares back in parts. One that is
/// on sale is followed by the next.
///
/// What is interrupted goes on when it is called off again, and by the housekeeper's [`super::pay_back_rest`].
///
/// # Errors
/// The store's.
pub async fn call_off(store: &Arc<dyn Store>, mint: &Mint, wish: CallOff) -> Result<CallOffOutcome> {
    let (beginning, mint, round) = (Arc::clone(store), mint.clone(), wish.round);
    let begun = run_alone(async move {
        let mut tx = beginning.begin().await?;
        let begun = begin(&mut *tx, &mint, &wish).await?;
        if begun.is_ok() {
            commit("call-off", tx).await?;
        }
        Ok(begun)
    })
    .await?;
    match begun {
        Ok(()) => Ok(CallOffOutcome::CalledOff(pay_back(store, round).await?)),
        Err(outcome) => Ok(outcome),
    }
}

/// The round is called off from now on, and its shares are to be paid back; or what speaks against it.
async fn begin(
    tx: &mut dyn Tx,
    mint: &Mint,
    wish: &CallOff,
) -> Result<std::result::Result<(), CallOffOutcome>> {
    let read = tx.rounds_read(&[wish.round]).await?.pop();
    let Some(product) = read.map(|round| round.product) else { return Ok(Err(CallOffOutcome::Unknown)) };
    // In the order of the house: the raffle's stock row keeps the issuer off, then its batch.
    tx.stock_lock(&[product]).await?;
    let raffles = tx.raffles_read(&[product]).await?;
    let Some(round) = tx.rounds_lock(&[wish.round]).await?.pop() else {
        return Ok(Err(CallOffOutcome::Unknown));
    };
    match round.state {
        RoundState::Open | RoundState::Full => {}
        // An earlier call ended before all was paid back.
        RoundState::Cancelled if tx.repayments_lock(round.id).await?.is_some() => return Ok(Ok(())),
        state @ (RoundState::Cancelled | RoundState::Drawn) => return Ok(Err(CallOffOutcome::Past(state))),
    }
    cancel(tx, &round, wish).await?;
    let products = tx.products_read(&[product]).await?;
    go_on_without(tx, mint, raffles, &products, &[round.id]).await?;
    Ok(Ok(()))
}

/// The round is called off, and what its shares cost is to be paid back; its raffle is to go on. The caller holds the stock row.
pub(crate) async fn cancel(tx: &mut dyn Tx, round: &Round, wish: &CallOff) -> Result<()> {
    if round.state == RoundState::Open {
        void_unissued(tx, round.product, &wish.actor, &wish.reason).await?;
    }
    tx.rounds_cancel(round.id).await?;
    tx.repayments_begin(round.id).await?;
    let audit = AuditEntry {
        actor: wish.actor.clone(),
        action: "round.cancel".to_owned(),
        subject: round.id.to_string(),
        reason: Some(wish.reason.clone()),
    };
    tx.audit_append(&[audit]).await
}
