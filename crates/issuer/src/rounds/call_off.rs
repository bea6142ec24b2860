//! Calling a round off before its draw: the price of its shares is to be paid back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tessera_model::ids::{BatchId, OrderId, PaymentId, ProductId};
use tessera_model::order::{Order, OrderEvent, OrderState};
use tessera_model::pay::{MoneyEntry, Portions, refund_shares};
use tessera_model::round::RoundState;
use tessera_store::operators::AuditEntry;
use tessera_store::orders::Advance;
use tessera_store::rounds::Share;
use tessera_store::{Result, Store, StoreError, Tx, commit, run_alone};

use super::Mint;
use crate::over::{settled_state, sums};

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

/// Calls a round off, with an audit entry in the same transaction. One that is on sale is followed by the next.
///
/// # Errors
/// The store's.
pub async fn call_off(store: &Arc<dyn Store>, mint: &Mint, wish: CallOff) -> Result<CallOffOutcome> {
    let (store, mint) = (Arc::clone(store), mint.clone());
    run_alone(async move {
        let mut tx = store.begin().await?;
        let outcome = run(&mut *tx, &mint, &wish).await?;
        if matches!(outcome, CallOffOutcome::CalledOff(_)) {
            commit("call-off", tx).await?;
        }
        Ok(outcome)
    })
    .await
}

async fn run(tx: &mut dyn Tx, mint: &Mint, wish: &CallOff) -> Result<CallOffOutcome> {
    let Some(round) = tx.rounds_read(&[wish.round]).await?.pop() else { return Ok(CallOffOutcome::Unknown) };
    // In the order of the house: the raffle's stock row keeps the issuer off, then its batch, then the orders.
    tx.stock_lock(&[round.product]).await?;
    let raffles = tx.raffles_read(&[round.product]).await?;
    let shares = tx.rounds_shares(wish.round).await?;
    let ids: BTreeSet<OrderId> = shares.iter().map(|share| share.order).collect();
    let ids: Vec<OrderId> = ids.into_iter().collect();
    let orders = tx.orders_lock(&ids).await?;
    let Some(round) = tx.rounds_lock(&[wish.round]).await?.pop() else { return Ok(CallOffOutcome::Unknown) };
    if !matches!(round.state, RoundState::Open | RoundState::Full) {
        return Ok(CallOffOutcome::Past(round.state));
    }
    if round.state == RoundState::Open {
        tx.batches_void_rest(round.product).await?;
    }
    tx.rounds_cancel(wish.round).await?;
    pay_back(tx, &shares, &orders, &ids).await?;
    let audit = AuditEntry {
        actor: wish.actor.clone(),
        action: "round.cancel".to_owned(),
        subject: wish.round.to_string(),
        reason: Some(wish.reason.clone()),
    };
    tx.audit_append(&[audit]).await?;
    for mut stored in raffles {
        if stored.round.as_ref().is_some_and(|open| open.batch.id == wish.round) {
            stored.round = None;
        }
        go_on(tx, mint, stored, round.product).await?;
    }
    Ok(CallOffOutcome::CalledOff(ids.len()))
}

/// Opens the next round where none is on sale, and has orders claim where none follows.
async fn go_on(
    tx: &mut dyn Tx,
    mint: &Mint,
    stored: tessera_store::rounds::StoredRaffle,
    product: ProductId,
) -> Result<()> {
    let now = tx.now();
    let Some(product) = tx.products_read(&[product]).await?.pop() else { return Ok(()) };
    let Some(mut room) = mint.room(stored, &product, now)? else { return Ok(()) };
    if let Some(new) = room.settle() {
        tx.rounds_open(&[mint.to_open(new, None)?]).await?;
    }
    tx.stock_claims(&[(product.id, room.claims())]).await
}

async fn pay_back(tx: &mut dyn Tx, shares: &[Share], orders: &[Order], ids: &[OrderId]) -> Result<()> {
    let prices: BTreeMap<(OrderId, i32), i64> =
        tx.lines_read(ids).await?.into_iter().map(|(o, line)| ((o, line.number), line.unit_minor)).collect();
    let mut due: BTreeMap<OrderId, i64> = BTreeMap::new();
    for share in shares {
        let price = prices.get(&(share.order, share.line)).copied().unwrap_or(0);
        let amount = (share.upto - share.start).checked_mul(price);
        *due.entry(share.order).or_default() +=
            amount.ok_or_else(|| StoreError::inconsistent("order_line", "unit_minor"))?;
    }
    let portions: BTreeMap<OrderId, BTreeMap<PaymentId, Portions>> = sums(tx.money_of(ids).await?);
    let none = BTreeMap::new();
    let entries: Vec<MoneyEntry> = due
        .iter()
        .flat_map(|(order, due)| refund_shares(*order, portions.get(order).unwrap_or(&none), *due))
        .collect();
    let given: BTreeMap<OrderId, i64> = codes_of(tx, ids).await?;
    let now = tx.now();
    let advances: Vec<Advance> = orders
        .iter()
        .filter(|order| {
            let here: i64 = shares.iter().filter(|s| s.order == order.id).map(|s| s.upto - s.start).sum();
            given.get(&order.id) == Some(&here)
        })
        .filter_map(|order| advance(order, now))
        .collect();
    if !entries.is_empty() {
        tx.money_append(&entries).await?;
    }
    if !advances.is_empty() {
        tx.orders_advance(&advances).await?;
    }
    Ok(())
}

/// An order that has nothing else becomes `refund_due`, and `refunded` at once if it cost nothing.
fn advance(order: &Order, now: tessera_model::time::Timestamp) -> Option<Advance> {
    match order.state {
        OrderState::Issued { .. } => {}
        _ => return None,
    }
    let state = order.state.after(OrderEvent::RefundOrdered, now).ok()?;
    Some(Advance {
        id: order.id,
        version: order.version,
        state: settled_state(state, order.amount.minor, now),
    })
}

/// How many codes each order has, of whatever product.
async fn codes_of(tx: &mut dyn Tx, ids: &[OrderId]) -> Result<BTreeMap<OrderId, i64>> {
    let mut given = BTreeMap::new();
    for span in tx.spans_of(ids).await? {
        *given.entry(span.owner.order).or_default() += span.upto - span.start;
    }
    Ok(given)
}
