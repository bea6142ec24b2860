//! Writes what a set decided.

use std::collections::BTreeMap;

use tessera_model::ids::OrderId;
use tessera_model::issue::Plan;
use tessera_model::order::{Order, OrderEvent, OrderStatus};
use tessera_store::orders::Advance;
use tessera_store::{Result, Tx};

/// Writes the plan; a plan without any change writes nothing.
pub(super) async fn plan(
    tx: &mut dyn Tx,
    plan: &Plan,
    orders: &BTreeMap<OrderId, Order>,
    alone: bool,
) -> Result<()> {
    if !plan.issued.is_empty() {
        issued(tx, plan, orders).await?;
    }
    if !plan.joined.is_empty() {
        tx.waitlists_join(&plan.joined).await?;
    }
    let advances = advances(tx, plan, orders);
    if !advances.is_empty() {
        tx.orders_advance(&advances).await?;
        tx.sets_raise().await?;
    }
    if alone {
        let tried: Vec<OrderId> = orders.keys().copied().collect();
        tx.attempts_clear(&tried).await?;
    }
    Ok(())
}

async fn issued(tx: &mut dyn Tx, plan: &Plan, orders: &BTreeMap<OrderId, Order>) -> Result<()> {
    tx.spans_append(&plan.spans).await?;
    let moved: Vec<_> = plan.advanced.iter().map(|(batch, upto)| (*batch, *upto)).collect();
    tx.batches_advance(&moved).await?;
    let released: Vec<_> = plan.released.iter().map(|(product, quantity)| (*product, -quantity)).collect();
    tx.stock_move(&released).await?;
    // Issuing an order in any way settles its letter.
    tx.letters_resolve(&plan.issued).await?;
    let waited =
        |id: &&OrderId| orders.get(*id).is_some_and(|o| o.state.status() == OrderStatus::Backordered);
    let waited: Vec<OrderId> = plan.issued.iter().filter(waited).copied().collect();
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
