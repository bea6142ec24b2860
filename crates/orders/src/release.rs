//! Releasing orders that were never paid: cancelled by the buyer, or expired.
//!
//! The claim and the customer's units go back, and short payments are to be paid back.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tessera_faults::{Break, broken};
use tessera_model::ids::OrderId;
use tessera_model::order::{Line, Order, OrderEvent, OrderState, OrderStatus};
use tessera_model::pay::release_short;
use tessera_store::orders::Advance;
use tessera_store::{Result, Step, Tx};

use crate::ledger::{Moves, accounts_of, lines_of};

/// A buyer's wish to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancellation {
    /// The order.
    pub order: OrderId,
    /// The epoch of the token that was shown.
    pub epoch: i32,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It is cancelled, now or already.
    Cancelled,
    /// No such order, or the token was revoked.
    NotFound,
    /// It is past cancelling.
    NotCancellable(OrderStatus),
}

/// The step of buyers who cancel.
pub struct Cancel;

#[async_trait]
impl Step for Cancel {
    const NAME: &str = "cancel";
    type Input = Cancellation;
    type Output = CancelOutcome;

    async fn run(
        &self,
        tx: &mut dyn Tx,
        inputs: &[Cancellation],
        _again: bool,
    ) -> Result<Vec<CancelOutcome>> {
        let ids: Vec<OrderId> = inputs.iter().map(|c| c.order).collect();
        let mut locked = lock(tx, &ids).await?;
        let outcomes = inputs.iter().map(|c| cancel(c, &mut locked)).collect();
        release(tx, locked, OrderEvent::Cancelled).await?;
        Ok(outcomes)
    }
}

fn cancel(wish: &Cancellation, locked: &mut Locked) -> CancelOutcome {
    let Some(order) = locked.orders.get(&wish.order).filter(|o| o.epoch == wish.epoch) else {
        return CancelOutcome::NotFound;
    };
    match order.state {
        OrderState::AwaitingPayment { .. } => {
            locked.chosen.insert(order.id);
            CancelOutcome::Cancelled
        }
        OrderState::Cancelled { .. } => CancelOutcome::Cancelled,
        state => CancelOutcome::NotCancellable(state.status()),
    }
}

/// Orders under lock, and which of them are to be released.
pub(crate) struct Locked {
    pub(crate) orders: BTreeMap<OrderId, Order>,
    pub(crate) chosen: BTreeSet<OrderId>,
    lines: BTreeMap<OrderId, Vec<Line>>,
}

/// Locks everything that releasing these orders moves: stock, customers, then the orders.
pub(crate) async fn lock(tx: &mut dyn Tx, ids: &[OrderId]) -> Result<Locked> {
    // Lines, products and customer of an order never change, so they are read before the locks.
    let ids: Vec<OrderId> = ids.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let lines = lines_of(tx, &ids).await?;
    let products: BTreeSet<_> = lines.values().flatten().map(|l| l.product).collect();
    let customers: BTreeMap<String, _> = tx
        .orders_read(&ids)
        .await?
        .into_iter()
        .map(|o| (o.customer.folded().to_owned(), o.customer))
        .collect();
    if broken(Break::LockOrderReversed) {
        tx.orders_lock(&ids).await?;
    }
    tx.stock_lock(&products.into_iter().collect::<Vec<_>>()).await?;
    tx.customers_lock(&customers.into_values().collect::<Vec<_>>()).await?;
    let orders = tx.orders_lock(&ids).await?.into_iter().map(|o| (o.id, o)).collect();
    Ok(Locked { orders, chosen: BTreeSet::new(), lines })
}

/// Releases the chosen orders by `event`.
pub(crate) async fn release(tx: &mut dyn Tx, locked: Locked, event: OrderEvent) -> Result<()> {
    let Locked { mut orders, chosen, lines } = locked;
    orders.retain(|id, _| chosen.contains(id));
    if orders.is_empty() {
        return Ok(());
    }
    let orders: Vec<Order> = orders.into_values().collect();
    let (now, mut moves, mut advances) = (tx.now(), Moves::default(), vec![]);
    for order in &orders {
        let state = match order.state.after(event, now) {
            Err(_) if broken(Break::ReleaseWithoutRecheck) => Ok(OrderState::Expired { closed_at: now }),
            state => state,
        };
        if let Ok(state) = state {
            advances.push(Advance { id: order.id, version: order.version, state });
            moves.add(&order.customer, lines.get(&order.id).map_or(&[], Vec::as_slice), -1);
        }
    }
    let mut accounts = accounts_of(tx, &orders).await?;
    let entries: Vec<_> = accounts.values_mut().flat_map(release_short).collect();
    tx.orders_advance(&advances).await?;
    moves.write(tx).await?;
    if !entries.is_empty() {
        tx.money_append(&entries).await?;
    }
    Ok(())
}
