//! Accept: an operator takes what was paid for an order as enough.
//!
//! An order that still waits is paid by its short money. One that expired or was cancelled is paid by the money that was
//! to be paid back, if there still is stock for it; limits are the operator's to pass.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tessera_model::ids::{OrderId, PaymentId, ProductId};
use tessera_model::order::{Line, Order, OrderEvent, OrderStatus};
use tessera_model::pay::{MoneyEntry, MoneyState, NotAccepted, Portions, accept};
use tessera_model::place::Shelf;
use tessera_store::operators::AuditEntry;
use tessera_store::orders::Advance;
use tessera_store::{Result, Step, Tx};

use super::{DeedOutcome, Wish};
use crate::ledger::{Moves, lines_of, portions_of_orders};

/// The step.
pub struct Accept;

#[async_trait]
impl Step for Accept {
    const NAME: &str = "accept";
    type Input = Wish;
    type Output = DeedOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[Wish], again: bool) -> Result<Vec<DeedOutcome>> {
        let mut books = open(tx, inputs).await?;
        let outcomes = inputs.iter().map(|wish| books.accept(wish, again)).collect();
        books.write(tx).await?;
        Ok(outcomes)
    }
}

/// What a set of acceptances is decided on, and what it comes to.
struct Books {
    orders: BTreeMap<OrderId, Order>,
    lines: BTreeMap<OrderId, Vec<Line>>,
    money: BTreeMap<OrderId, BTreeMap<PaymentId, Portions>>,
    products: BTreeMap<OrderId, ProductId>,
    shelf: Shelf,
    accepted: BTreeSet<OrderId>,
    entries: Vec<MoneyEntry>,
    audit: Vec<AuditEntry>,
}

/// Locks stock, customers, then the orders, and reads.
async fn open(tx: &mut dyn Tx, inputs: &[Wish]) -> Result<Books> {
    let ids: BTreeSet<OrderId> = inputs.iter().map(|wish| wish.order).collect();
    let ids: Vec<OrderId> = ids.into_iter().collect();
    let lines = lines_of(tx, &ids).await?;
    let customers: Vec<_> = tx.orders_read(&ids).await?.into_iter().map(|o| o.customer).collect();
    let of = lines.values().flatten().map(|line| line.product);
    let shelf = crate::shelf::locked(tx, of, &customers).await?;
    let orders = tx.orders_lock(&ids).await?.into_iter().map(|o| (o.id, o)).collect();
    let money = portions_of_orders(tx, &ids).await?;
    let products = tx.orders_products(&ids).await?.into_iter().collect();
    let (accepted, entries, audit) = (BTreeSet::new(), vec![], vec![]);
    Ok(Books { orders, lines, money, products, shelf, accepted, entries, audit })
}

impl Books {
    fn accept(&mut self, wish: &Wish, again: bool) -> DeedOutcome {
        let Some(order) = self.orders.get(&wish.order) else { return DeedOutcome::NotFound };
        if self.accepted.contains(&order.id) {
            return DeedOutcome::Already(OrderStatus::Paid);
        }
        let (none, lines) = (BTreeMap::new(), self.lines.get(&order.id).map_or(&[][..], Vec::as_slice));
        let (money, status) = (self.money.get(&order.id).unwrap_or(&none), order.state.status());
        let shelf = &mut self.shelf;
        let mut may_admit = || shelf.admit(&order.customer, lines);
        let paid = self.products.get(&order.id).map(|product| (order.id, *product));
        match accept(order.id, status, order.amount.minor, money, &mut may_admit) {
            Ok(entries) => {
                self.audit.push(told(wish, order, &entries));
                self.entries.extend(entries);
                self.accepted.insert(order.id);
                DeedOutcome::Done { paid }
            }
            // An earlier run of this very set may have done it, and nobody was told yet.
            Err(NotAccepted::State(OrderStatus::Paid)) if again => DeedOutcome::Done { paid },
            Err(NotAccepted::State(status)) => DeedOutcome::Refused(status),
            Err(NotAccepted::NothingPaid) => DeedOutcome::NothingPaid,
            Err(NotAccepted::SoldOut) => DeedOutcome::SoldOut,
        }
    }

    async fn write(self, tx: &mut dyn Tx) -> Result<()> {
        if self.accepted.is_empty() {
            return Ok(());
        }
        let (now, mut moves, mut advances) = (tx.now(), Moves::default(), vec![]);
        for order in self.accepted.iter().filter_map(|id| self.orders.get(id)) {
            if let Ok(state) = order.state.after(OrderEvent::Accepted, now) {
                advances.push(Advance { id: order.id, version: order.version, state });
            }
            if !order.state.status().claims() {
                moves.add(&order.customer, self.lines.get(&order.id).map_or(&[], Vec::as_slice), 1);
            }
        }
        tx.money_append(&self.entries).await?;
        tx.orders_advance(&advances).await?;
        moves.write(tx).await?;
        tx.audit_append(&self.audit).await
    }
}

/// The log keeps both amounts: what was taken as enough, and what was due.
fn told(wish: &Wish, order: &Order, entries: &[MoneyEntry]) -> AuditEntry {
    let settled = entries.iter().filter(|e| e.state == MoneyState::Settled);
    let settled: i64 = settled.map(|e| e.amount).sum();
    let more = format!(" (took {settled} for {} {})", order.amount.minor, order.amount.currency);
    wish.by.entry_with("order.accept", order.id.to_string(), &more)
}
