//! What becomes of rounds that were on sale in a copy.

use std::collections::BTreeMap;

use tessera_model::ids::BatchId;
use tessera_model::product::Product;
use tessera_store::rounds::StoredRaffle;
use tessera_store::{Result, Tx};

use super::{Recover, Recovered};
use crate::rounds::{CallOff, Mint, cancel, go_on_without};

/// Why, in the audit log.
const SOLD_OUT: &str =
    "it was sold out since the copy was made, and may have been drawn with shares that are forgotten";

/// A round that was seen to be sold out is called off: it may have been drawn, and would be drawn again with other shares.
/// Of the others, one that is burned to its end is full. The next ones open.
pub(super) async fn settle(
    tx: &mut dyn Tx,
    mint: &Mint,
    (products, wish): (&[Product], &Recover),
    (raffles, marks): (Vec<StoredRaffle>, &BTreeMap<BatchId, i64>),
    done: &mut Recovered,
) -> Result<()> {
    let is_sold_out = |id: &BatchId, size: i64| marks.get(id).is_some_and(|upto| *upto >= size);
    let on_sale = raffles.iter().filter_map(|raffle| raffle.round.as_ref()).map(|round| &round.batch);
    let (off, rest): (Vec<_>, Vec<_>) = on_sale.partition(|batch| is_sold_out(&batch.id, batch.size));
    done.called_off = off.iter().map(|batch| batch.id).collect();
    done.rounds = rest.iter().map(|batch| batch.id).collect();
    for round in tx.rounds_lock(&done.called_off).await? {
        let reason = wish.reason.clone().unwrap_or_else(|| SOLD_OUT.to_owned());
        cancel(tx, &round, &CallOff { round: round.id, actor: wish.actor.clone(), reason }).await?;
    }
    go_on_without(tx, mint, raffles, products, &done.called_off).await
}
