//! What operators do to orders, by the design's "Rules that money follows".

use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;

use super::super::transition::{Deed, Fault, Work};
use super::issue::is_raffle;
use super::{Model, Order};

impl Order {
    pub(super) fn has(&self, state: MoneyState) -> i64 {
        self.money.get(&state).copied().unwrap_or(0)
    }
}

impl Model {
    /// The desk tells of an order that was accepted at once.
    pub(super) fn deed(&mut self, deed: Deed, number: usize) -> String {
        let outcome = self.deed_alone(deed, number);
        if deed == Deed::Accept && outcome == "done" {
            self.publish(Work::Order(number));
        }
        outcome
    }

    /// An order that is found to be paid when the set is run again was accepted by the run before, as far as anybody can
    /// tell.
    pub(super) fn accept_in_doubt(&mut self, number: usize, fault: Fault) -> String {
        if fault == Fault::DoubtDone {
            self.deed_alone(Deed::Accept, number);
        }
        if self.orders.get(&number).is_some_and(|order| order.status == OrderStatus::Paid) {
            self.publish(Work::Order(number));
            return "done".to_owned();
        }
        self.deed(Deed::Accept, number)
    }

    pub(super) fn deed_alone(&mut self, deed: Deed, number: usize) -> String {
        if !self.orders.contains_key(&number) {
            return "not found".to_owned();
        }
        match deed {
            Deed::Refund => self.refund(number),
            Deed::Accept => self.accept(number),
            Deed::Cancel => self.cancel_for(number),
        }
    }

    /// All of its money is to be paid back, and it waits for nothing any more.
    fn refund(&mut self, number: usize) -> String {
        let order = self.orders.get_mut(&number).unwrap();
        match order.status {
            // No round of the machine is drawn.
            OrderStatus::Issued if order.given.iter().any(|(article, _)| is_raffle(*article)) => {
                return "shares are final".to_owned();
            }
            OrderStatus::Paid | OrderStatus::Backordered | OrderStatus::Issued => {}
            status @ (OrderStatus::RefundDue | OrderStatus::Refunded) => return format!("already {status}"),
            status => return format!("refused: {status}"),
        }
        order.move_all(MoneyState::Settled, MoneyState::RefundDue);
        let owed = order.has(MoneyState::RefundDue) > 0;
        order.status = if owed { OrderStatus::RefundDue } else { OrderStatus::Refunded };
        for shelf in &mut self.shelves {
            shelf.waitlist.retain(|turn, _| turn.1.1 != number);
        }
        self.attempts.remove(&number);
        "done".to_owned()
    }

    /// Short money is enough; or that which was to be paid back, up to the price, while there is stock.
    fn accept(&mut self, number: usize) -> String {
        let order = &self.orders[&number];
        let from = match order.status {
            OrderStatus::AwaitingPayment => MoneyState::Short,
            OrderStatus::Expired | OrderStatus::Cancelled => MoneyState::RefundDue,
            status => return format!("refused: {status}"),
        };
        let settles = order.has(from).min(order.due);
        if settles == 0 {
            return "nothing paid".to_owned();
        }
        if from == MoneyState::RefundDue && self.sold_out(&order.lines).is_some() {
            return "sold out".to_owned();
        }
        let now = self.now;
        let order = self.orders.get_mut(&number).unwrap();
        (order.status, order.paid_at) = (OrderStatus::Paid, Some(now));
        *order.money.entry(from).or_default() -= settles;
        order.money.retain(|_, minor| *minor != 0);
        *order.money.entry(MoneyState::Settled).or_default() += settles;
        "done".to_owned()
    }

    fn cancel_for(&mut self, number: usize) -> String {
        let order = self.orders.get_mut(&number).unwrap();
        match order.status {
            OrderStatus::AwaitingPayment => order.release(OrderStatus::Cancelled),
            OrderStatus::Cancelled => return "already cancelled".to_owned(),
            status => return format!("refused: {status}"),
        }
        "done".to_owned()
    }
}
