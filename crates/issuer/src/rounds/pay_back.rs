//! Paying back the shares of a round that was called off, a part in a transaction.
//!
//! How far it came is kept with the money that moved, so that every share is paid back once, whoever goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tessera_model::ids::{BatchId, OrderId};
use tessera_model::order::{Order, OrderStatus};
use tessera_model::pay::{MoneyEntry, refund_shares};
use tessera_model::round::RoundState;
use tessera_store::batches::CodeSource;
use tessera_store::orders::Advance;
use tessera_store::rounds::Share;
use tessera_store::{Result, Store, StoreError, Tx, commit, run_alone};

use crate::over::{paid_back, sums};

/// Shares' spans that are paid back in one transaction: it locks as many orders, for well under a second.
const PART: i64 = 1_000;

/// Pays back what is left of a round that was called off; says how many orders that were.
///
/// # Errors
/// The store's.
pub async fn pay_back(store: &Arc<dyn Store>, round: BatchId) -> Result<usize> {
    let (mut count, mut last) = (0_usize, None);
    while let Some(orders) = part(store, round).await? {
        // The shares of one order may be in two parts.
        count += orders.len() - usize::from(last.is_some() && last.as_ref() == orders.first());
        last = orders.last().copied();
    }
    Ok(count)
}

/// Pays back what is left of every round that was called off and not paid back, as after a crash; says of how many
/// orders.
///
/// # Errors
/// The store's.
pub async fn pay_back_rest(store: &Arc<dyn Store>) -> Result<usize> {
    let reader = Arc::clone(store);
    let open = run_alone(async move { reader.snapshot().await?.repayments_list().await }).await?;
    let (mut count, mut met) = (0, None);
    for round in open {
        match pay_back(store, round).await {
            Ok(orders) => count += orders,
            // One that cannot be paid back must not stop the others.
            Err(error @ StoreError::Data(_)) => met = Some(error),
            Err(error) => return Err(error),
        }
    }
    met.map_or(Ok(count), Err)
}

/// The orders of the next part, in the order of their shares; none when all is done.
async fn part(store: &Arc<dyn Store>, round: BatchId) -> Result<Option<Vec<OrderId>>> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let Some(upto) = tx.repayments_lock(round).await? else { return Ok(None) };
        let shares = tx.repayments_shares(round, upto, PART).await?;
        match shares.last() {
            Some(last) => {
                move_money(&mut *tx, round, &shares).await?;
                tx.repayments_move(round, last.upto).await?;
            }
            None => tx.repayments_end(round).await?,
        }
        commit("call-off", tx).await?;
        let mut orders: Vec<OrderId> = shares.iter().map(|share| share.order).collect();
        orders.dedup();
        Ok((!orders.is_empty()).then_some(orders))
    })
    .await
}

async fn move_money(tx: &mut dyn Tx, round: BatchId, shares: &[Share]) -> Result<()> {
    let ids: BTreeSet<OrderId> = shares.iter().map(|share| share.order).collect();
    let ids: Vec<OrderId> = ids.into_iter().collect();
    let orders = tx.orders_lock(&ids).await?;
    let (due, money) = (prices(tx, shares, &ids).await?, sums(tx.money_of(&ids).await?));
    let none = BTreeMap::new();
    let entries: Vec<MoneyEntry> = due
        .iter()
        .flat_map(|(order, due)| refund_shares(*order, money.get(order).unwrap_or(&none), *due))
        .collect();
    let keeping = keeping(tx, round, &ids).await?;
    let now = tx.now();
    let is_left_empty =
        |order: &&Order| order.state.status() == OrderStatus::Issued && !keeping.contains(&order.id);
    let advances: Vec<Advance> = orders
        .iter()
        .filter(is_left_empty)
        .filter_map(|order| paid_back(order, money.get(&order.id), now))
        .collect();
    if !entries.is_empty() {
        tx.money_append(&entries).await?;
    }
    if !advances.is_empty() {
        tx.orders_advance(&advances).await?;
    }
    Ok(())
}

/// What each order paid for these shares.
async fn prices(tx: &mut dyn Tx, shares: &[Share], ids: &[OrderId]) -> Result<BTreeMap<OrderId, i64>> {
    let prices: BTreeMap<(OrderId, i32), i64> =
        tx.lines_read(ids).await?.into_iter().map(|(o, line)| ((o, line.number), line.unit_minor)).collect();
    let mut due: BTreeMap<OrderId, i64> = BTreeMap::new();
    for share in shares {
        let price = prices.get(&(share.order, share.line)).copied().unwrap_or(0);
        let amount = (share.upto - share.start).checked_mul(price);
        *due.entry(share.order).or_default() +=
            amount.ok_or_else(|| StoreError::inconsistent("order_line", "unit_minor"))?;
    }
    Ok(due)
}

/// The orders that still have something: codes, or shares of a round that was not called off.
async fn keeping(tx: &mut dyn Tx, round: BatchId, ids: &[OrderId]) -> Result<BTreeSet<OrderId>> {
    let mut spans = tx.spans_of(ids).await?;
    spans.retain(|span| span.batch.id != round);
    let is_share = |source: &CodeSource| matches!(source, CodeSource::Round { .. });
    let rounds: BTreeSet<BatchId> =
        spans.iter().filter(|span| is_share(&span.batch.source)).map(|span| span.batch.id).collect();
    let rounds = tx.rounds_read(&rounds.into_iter().collect::<Vec<_>>()).await?;
    let off: BTreeSet<BatchId> =
        rounds.iter().filter(|round| round.state == RoundState::Cancelled).map(|round| round.id).collect();
    Ok(spans.iter().filter(|span| !off.contains(&span.batch.id)).map(|span| span.owner.order).collect())
}
