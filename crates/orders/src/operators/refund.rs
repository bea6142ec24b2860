//! Refund: all money of an order is to be paid back, and what it still held is let go.
//!
//! An order that has its codes keeps them: they were seen. One that has not leaves its waitlists and gives its claim
//! back; its dead letter is resolved, for nothing is left to issue. A refund does not give back the customer's units.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tessera_model::ids::{OrderId, PaymentId, ProductId};
use tessera_model::order::{Line, Order, OrderEvent, OrderStatus};
use tessera_model::pay::{MoneyEntry, Portions, nothing_left, refund_order};
use tessera_store::orders::Advance;
use tessera_store::{Result, Step, Tx};

use super::{DeedOutcome, Wish};
use crate::ledger::{Moves, lines_of, portions_of_orders};

/// The step.
pub struct Refund;

#[async_trait]
impl Step for Refund {
    const NAME: &str = "refund";
    type Input = Wish;
    type Output = DeedOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[Wish], _again: bool) -> Result<Vec<DeedOutcome>> {
        let mut books = open(tx, inputs).await?;
        let (mut outcomes, mut entries) = (Vec::with_capacity(inputs.len()), vec![]);
        for wish in inputs {
            let outcome = books.refund(wish.order);
            if outcome == DeedOutcome::DONE {
                entries.push(wish.by.entry("order.refund", wish.order.to_string()));
            }
            outcomes.push(outcome);
        }
        books.write(tx).await?;
        if !entries.is_empty() {
            tx.audit_append(&entries).await?;
        }
        Ok(outcomes)
    }
}

/// What a set of refunds is decided on, and which are chosen.
struct Books {
    orders: BTreeMap<OrderId, Order>,
    lines: BTreeMap<OrderId, Vec<Line>>,
    money: BTreeMap<OrderId, BTreeMap<PaymentId, Portions>>,
    /// Orders whose shares are final.
    undrawn: BTreeSet<OrderId>,
    chosen: BTreeSet<OrderId>,
}

/// Locks stock, then the orders, and reads.
async fn open(tx: &mut dyn Tx, inputs: &[Wish]) -> Result<Books> {
    let ids: BTreeSet<OrderId> = inputs.iter().map(|wish| wish.order).collect();
    let ids: Vec<OrderId> = ids.into_iter().collect();
    let lines = lines_of(tx, &ids).await?;
    let products: BTreeSet<ProductId> = lines.values().flatten().map(|line| line.product).collect();
    tx.stock_lock(&products.into_iter().collect::<Vec<_>>()).await?;
    let orders: BTreeMap<_, _> = tx.orders_lock(&ids).await?.into_iter().map(|o| (o.id, o)).collect();
    let money = portions_of_orders(tx, &ids).await?;
    let undrawn = undrawn(tx, &ids).await?;
    Ok(Books { orders, lines, money, undrawn, chosen: BTreeSet::new() })
}

/// Those of these orders that have shares of a round that is sold and not drawn.
async fn undrawn(tx: &mut dyn Tx, ids: &[OrderId]) -> Result<BTreeSet<OrderId>> {
    Ok(tx.orders_undrawn(ids).await?.into_iter().collect())
}

impl Books {
    fn refund(&mut self, id: OrderId) -> DeedOutcome {
        let Some(order) = self.orders.get(&id) else { return DeedOutcome::NotFound };
        match order.state.status() {
            OrderStatus::Paid | OrderStatus::Backordered | OrderStatus::Issued => {}
            status @ (OrderStatus::RefundDue | OrderStatus::Refunded) => {
                return DeedOutcome::Already(status);
            }
            status @ (OrderStatus::AwaitingPayment | OrderStatus::Expired | OrderStatus::Cancelled) => {
                return DeedOutcome::Refused(status);
            }
        }
        if self.undrawn.contains(&id) {
            return DeedOutcome::SharesFinal;
        }
        if self.chosen.insert(id) { DeedOutcome::DONE } else { DeedOutcome::Already(OrderStatus::RefundDue) }
    }

    async fn write(self, tx: &mut dyn Tx) -> Result<()> {
        let chosen: Vec<OrderId> = self.chosen.iter().copied().collect();
        if chosen.is_empty() {
            return Ok(());
        }
        let (mut moves, mut advances, mut entries) = (Moves::default(), vec![], vec![]);
        for order in chosen.iter().filter_map(|id| self.orders.get(id)) {
            let (advance, moved) = self.decide(order, tx);
            entries.extend(moved);
            advances.extend(advance);
            if order.state.status().claims() {
                moves.unclaim(self.lines.get(&order.id).map_or(&[], Vec::as_slice));
            }
        }
        tx.orders_advance(&advances).await?;
        moves.write(tx).await?;
        if !entries.is_empty() {
            tx.money_append(&entries).await?;
        }
        tx.waitlists_leave(&chosen).await?;
        tx.letters_resolve(&chosen).await?;
        tx.attempts_clear(&chosen).await
    }

    /// One that has no money left, such as a free one, is refunded at once.
    fn decide(&self, order: &Order, tx: &dyn Tx) -> (Option<Advance>, Vec<MoneyEntry>) {
        let none = BTreeMap::new();
        let money = self.money.get(&order.id).unwrap_or(&none);
        let due = order.state.after(OrderEvent::RefundOrdered, tx.now());
        let state = match nothing_left(money) {
            true => due.and_then(|state| state.after(OrderEvent::RefundCompleted, tx.now())),
            false => due,
        };
        let advance = state.ok().map(|state| Advance { id: order.id, version: order.version, state });
        (advance, refund_order(order.id, money))
    }
}
