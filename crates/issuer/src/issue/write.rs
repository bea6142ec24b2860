//! Writes what a set decided.

use std::collections::{BTreeMap, BTreeSet};

use tessera_model::ids::{BatchId, OrderId};
use tessera_model::issue::Plan;
use tessera_model::order::{Order, OrderEvent, OrderStatus};
use tessera_model::round::NewRound;
use tessera_store::orders::Advance;
use tessera_store::{Result, StoreError, StoreMeta, Tx};

use crate::over;
use crate::rounds::Mint;

/// The most rounds that one order opens: beyond, its set could not be written in time, again and again. It becomes a dead
/// letter then, as `shares` of its raffle was lowered after it was placed.
const ROUNDS_ALONE_MAX: usize = 1_000;

/// Writes the plan; a plan without any change writes nothing.
pub(super) async fn plan(
    tx: &mut dyn Tx,
    mint: &Mint,
    plan: &Plan,
    orders: &BTreeMap<OrderId, Order>,
    alone: bool,
) -> Result<Option<StoreMeta>> {
    let mut meta = None;
    if plan.opened.len() > ROUNDS_ALONE_MAX {
        return Err(StoreError::Data("an order needs more rounds than can be opened at once".to_owned()));
    }
    rounds(tx, mint, plan).await?;
    if !plan.spans.is_empty() {
        given(tx, plan).await?;
    }
    if !plan.joined.is_empty() {
        tx.waitlists_join(&plan.joined).await?;
    }
    let mut advances = advances(tx, plan, orders);
    if !plan.over.is_empty() {
        advances.extend(over::pay_back(tx, &plan.over, orders).await?);
    }
    settle(tx, plan, orders).await?;
    if !advances.is_empty() {
        tx.orders_advance(&advances).await?;
        meta = Some(tx.sets_raise().await?);
    }
    if !plan.ending.is_empty() {
        // After the orders: what those that are still pending hold is claimed from now on.
        let ending: Vec<_> = plan.ending.iter().map(|product| (*product, true)).collect();
        tx.stock_claims(&ending).await?;
    }
    if alone {
        let tried: Vec<OrderId> = orders.keys().copied().collect();
        tx.attempts_clear(&tried).await?;
    }
    Ok(meta)
}

/// Rounds on sale move first: one has to be full before the next is opened.
async fn rounds(tx: &mut dyn Tx, mint: &Mint, plan: &Plan) -> Result<()> {
    let new: BTreeSet<BatchId> = plan.opened.iter().map(|round| round.id).collect();
    let moved: Vec<_> =
        plan.rounds.iter().filter(|(id, _)| !new.contains(id)).map(|(id, turned)| (*id, *turned)).collect();
    if !moved.is_empty() {
        tx.rounds_turn(&moved).await?;
    }
    if !plan.opened.is_empty() {
        let open = |round: &NewRound| mint.to_open(round.clone(), plan.rounds.get(&round.id).copied());
        tx.rounds_open(&plan.opened.iter().map(open).collect::<Result<Vec<_>>>()?).await?;
    }
    Ok(())
}

async fn given(tx: &mut dyn Tx, plan: &Plan) -> Result<()> {
    tx.spans_append(&plan.spans).await?;
    let moved: Vec<_> = plan.advanced.iter().map(|(batch, upto)| (*batch, *upto)).collect();
    tx.batches_advance(&moved).await
}

/// What orders that are pending no longer leave behind: claims, letters, places in waitlists.
async fn settle(tx: &mut dyn Tx, plan: &Plan, orders: &BTreeMap<OrderId, Order>) -> Result<()> {
    let done: Vec<OrderId> = plan.issued.iter().chain(&plan.over).copied().collect();
    if done.is_empty() {
        return Ok(());
    }
    let released: Vec<_> = plan.released.iter().map(|(product, quantity)| (*product, -quantity)).collect();
    tx.stock_move(&released).await?;
    // Issuing an order in any way settles its letter.
    tx.letters_resolve(&done).await?;
    let waited = |id: &OrderId| orders.get(id).is_some_and(|o| o.state.status() == OrderStatus::Backordered);
    let waited: Vec<OrderId> = done.into_iter().filter(waited).collect();
    if waited.is_empty() { Ok(()) } else { tx.waitlists_leave(&waited).await }
}

fn advances(tx: &dyn Tx, plan: &Plan, orders: &BTreeMap<OrderId, Order>) -> Vec<Advance> {
    let now = tx.now();
    let issued = plan.issued.iter().map(|id| (id, OrderEvent::Issued));
    let backordered = plan.backordered.iter().map(|id| (id, OrderEvent::Backordered));
    issued
        .chain(backordered)
        .filter_map(|(id, event)| {
            let order = orders.get(id)?;
            let state = order.state.after(event, now).ok()?;
            Some(Advance { id: *id, version: order.version, state })
        })
        .collect()
}
