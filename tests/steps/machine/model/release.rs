//! Orders that are never paid: cancelled or expired. Their claims fall by their state; short money is due back.

use std::collections::BTreeSet;

use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;

use super::{Model, Order};

impl Order {
    /// Moves all money of one state to another.
    pub(super) fn move_all(&mut self, from: MoneyState, to: MoneyState) {
        if let Some(minor) = self.money.remove(&from) {
            *self.money.entry(to).or_default() += minor;
        }
    }

    pub(super) fn release(&mut self, status: OrderStatus) {
        self.status = status;
        self.move_all(MoneyState::Short, MoneyState::RefundDue);
    }
}

impl Model {
    pub(super) fn cancel(&mut self, order: usize) -> String {
        let Some(order) = self.orders.get_mut(&order) else { return "not found".to_owned() };
        match order.status {
            OrderStatus::AwaitingPayment => order.release(OrderStatus::Cancelled),
            OrderStatus::Cancelled => {}
            status => return format!("not cancellable: {status}"),
        }
        "cancelled".to_owned()
    }

    pub(super) fn due_now(&self) -> BTreeSet<usize> {
        let due =
            |order: &Order| order.status == OrderStatus::AwaitingPayment && order.hold_until <= self.now;
        self.orders.iter().filter(|(_, order)| due(order)).map(|(number, _)| *number).collect()
    }

    /// What an expiry is run over.
    pub(super) fn expiring(&self) -> BTreeSet<usize> {
        self.due.iter().copied().chain(self.due_now()).collect()
    }

    /// What was seen before may be paid or cancelled by now: only what is due now expires.
    pub(super) fn expire(&mut self) {
        for number in self.due_now() {
            self.orders.get_mut(&number).unwrap().release(OrderStatus::Expired);
        }
    }
}
