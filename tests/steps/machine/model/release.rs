//! Orders that are never paid: cancelled or expired. Their claims fall by their state; short money is due back.

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

    fn release(&mut self, status: OrderStatus) {
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

    pub(super) fn is_any_due(&self) -> bool {
        self.orders.values().any(|order| self.is_due(order))
    }

    fn is_due(&self, order: &Order) -> bool {
        order.status == OrderStatus::AwaitingPayment && order.hold_until <= self.now
    }

    pub(super) fn expire(&mut self) {
        let due: Vec<usize> =
            self.orders.iter().filter(|(_, order)| self.is_due(order)).map(|(number, _)| *number).collect();
        for number in due {
            self.orders.get_mut(&number).unwrap().release(OrderStatus::Expired);
        }
    }
}
