//! Payments, by the design's "Rules that money follows".

use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;

use super::super::catalogue::BUYERS;
use super::super::transition::{Change, Fault, Payment, Sum, Work};
use super::{Model, Order};

/// What one says of a payment whose order nobody knows.
const UNKNOWN_DUE: i64 = 1_000;

/// What a payment says.
#[derive(Clone, PartialEq, Eq)]
pub(in super::super) struct Notice {
    pub(in super::super) order: usize,
    pub(in super::super) minor: i64,
    pub(in super::super) currency: &'static str,
}

/// Under what a payment is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reference {
    Of(usize),
    /// The `test` provider's is the order.
    Test(usize),
}

impl Model {
    /// What a payment says; one in a currency of no product says so.
    pub(in super::super) fn said(&self, payment: &Payment) -> Notice {
        match payment {
            Payment::Notice { reference, order, sum, foreign } => {
                self.notices.get(reference).cloned().unwrap_or_else(|| self.first(*order, *sum, *foreign))
            }
            Payment::Again { reference, change } => {
                let mut notice = self.notices[reference].clone();
                match change {
                    Change::None => {}
                    Change::More(minor) => notice.minor += minor,
                    Change::Order(order) => notice.order = *order,
                }
                notice
            }
            Payment::Test { order } => self.first(*order, Sum::Exact, false),
        }
    }

    fn first(&self, number: usize, sum: Sum, foreign: bool) -> Notice {
        let order = self.orders.get(&number);
        let (due, currency) = order.map_or((UNKNOWN_DUE, "CNY"), |order| (order.due, order.currency));
        let short = order.and_then(|order| order.money.get(&MoneyState::Short)).copied().unwrap_or(0);
        let minor = match sum {
            Sum::Exact => due,
            Sum::Rest => due - short,
            Sum::Less(minor) => due - minor,
            Sum::More(minor) => due + minor,
        };
        Notice { order: number, minor: minor.max(1), currency: if foreign { "USD" } else { currency } }
    }

    /// Those in time first; those whose order was released when they came are run again after them.
    pub(super) fn pay(&mut self, set: &[Payment]) -> Vec<String> {
        let mut outcomes = self.pay_in_time(set);
        let paid: Vec<usize> = (0..set.len()).filter(|at| pays(&outcomes[*at])).collect();
        self.tell_of(set, &paid);
        let late = late(&outcomes);
        let revived = self.pay_late(set, &late, &mut outcomes);
        self.tell_of(set, &revived);
        outcomes
    }

    /// The same, but what goes wrong goes wrong with the set of those that are late.
    pub(super) fn pay_with_late_fault(&mut self, set: &[Payment], fault: Fault) -> Vec<String> {
        let mut outcomes = self.pay_in_time(set);
        let late = late(&outcomes);
        if fault == Fault::DoubtNotDone {
            let revived = self.pay_late(set, &late, &mut outcomes);
            self.tell_of(set, &revived);
            return outcomes;
        }
        if fault != Fault::Refused {
            let contradictions = self.contradictions;
            self.pay_late(set, &late, &mut outcomes);
            self.contradictions = contradictions;
        }
        if fault == Fault::DoubtDone {
            self.pay_late(set, &late, &mut outcomes);
            return outcomes;
        }
        for at in late {
            "unavailable".clone_into(&mut outcomes[at]);
        }
        outcomes
    }

    /// Returns those that paid for an order.
    fn pay_late(&mut self, set: &[Payment], late: &[usize], outcomes: &mut [String]) -> Vec<usize> {
        for at in late {
            outcomes[*at] = self.take(&set[*at]);
        }
        late.iter().copied().filter(|at| pays(&outcomes[*at])).collect()
    }

    fn tell_of(&mut self, set: &[Payment], paid: &[usize]) {
        for at in paid {
            self.publish(Work::Order(self.said(&set[*at]).order));
        }
    }

    pub(super) fn is_any_late(&self, set: &[Payment]) -> bool {
        set.iter().any(|payment| self.is_late(payment))
    }

    /// Every payment of one order that was not released; `late` for the others.
    pub(super) fn pay_in_time(&mut self, set: &[Payment]) -> Vec<String> {
        for payment in set {
            if let Payment::Notice { reference, .. } = payment {
                self.notices.insert(*reference, self.said(payment));
            }
        }
        set.iter()
            .map(|payment| if self.is_late(payment) { "late".to_owned() } else { self.take(payment) })
            .collect()
    }

    fn is_late(&self, payment: &Payment) -> bool {
        let (known, notice) = (self.taken.contains_key(&reference(payment)), self.said(payment));
        let released = |order: &Order| matches!(order.status, OrderStatus::Expired | OrderStatus::Cancelled);
        let notified = !matches!(payment, Payment::Test { .. });
        notified && !known && self.orders.get(&notice.order).is_some_and(released)
    }

    fn take(&mut self, payment: &Payment) -> String {
        let notice = self.said(payment);
        if let Payment::Test { order } = payment
            && let Some(refusal) = self.no_test_payment(*order)
        {
            return refusal;
        }
        match self.taken.get(&reference(payment)) {
            Some(known) if *known == notice => return "duplicate".to_owned(),
            Some(_) => {
                self.contradictions += 1;
                return "recorded".to_owned();
            }
            None => drop(self.taken.insert(reference(payment), notice.clone())),
        }
        match self.orders.get(&notice.order) {
            Some(order) if order.currency == notice.currency => self.receive(notice.order, notice.minor),
            Some(_) | None => {
                self.unmatched += notice.minor;
                self.nobodys.insert(reference(payment));
                "unmatched".to_owned()
            }
        }
    }

    /// What the `test` provider's wish comes to without any payment.
    fn no_test_payment(&self, order: usize) -> Option<String> {
        match self.orders.get(&order).map(|order| order.status) {
            None => Some("not found".to_owned()),
            Some(OrderStatus::AwaitingPayment) => None,
            Some(OrderStatus::Paid | OrderStatus::Backordered | OrderStatus::Issued) => {
                Some("duplicate".to_owned())
            }
            Some(status) => Some(format!("not payable: {status}")),
        }
    }

    fn receive(&mut self, number: usize, minor: i64) -> String {
        let order = &self.orders[&number];
        match order.status {
            OrderStatus::AwaitingPayment => self.in_time(number, minor),
            OrderStatus::Expired | OrderStatus::Cancelled => {
                let person = BUYERS[order.buyer].person;
                let refused = minor < order.due
                    || self.may_not_buy(person, &order.lines).is_some()
                    || self.sold_out(&order.lines).is_some();
                if refused {
                    self.owe(number, minor)
                } else {
                    self.settle(number, minor, self.orders[&number].due)
                }
            }
            _ => self.owe(number, minor),
        }
    }

    fn in_time(&mut self, number: usize, minor: i64) -> String {
        let order = self.orders.get_mut(&number).unwrap();
        let short = order.money.get(&MoneyState::Short).copied().unwrap_or(0);
        if short + minor < order.due {
            *order.money.entry(MoneyState::Short).or_default() += minor;
            return "short".to_owned();
        }
        order.move_all(MoneyState::Short, MoneyState::Settled);
        let rest = order.due - short;
        self.settle(number, minor, rest)
    }

    /// The order is paid: `due` of the payment settles, what is more is to be paid back.
    fn settle(&mut self, number: usize, minor: i64, due: i64) -> String {
        let now = self.now;
        let order = self.orders.get_mut(&number).unwrap();
        (order.status, order.paid_at) = (OrderStatus::Paid, Some(now));
        *order.money.entry(MoneyState::Settled).or_default() += due;
        if minor == due {
            return "paid".to_owned();
        }
        *order.money.entry(MoneyState::RefundDue).or_default() += minor - due;
        "over".to_owned()
    }

    fn owe(&mut self, number: usize, minor: i64) -> String {
        let order = self.orders.get_mut(&number).unwrap();
        *order.money.entry(MoneyState::RefundDue).or_default() += minor;
        "refund_due".to_owned()
    }
}

fn pays(outcome: &str) -> bool {
    matches!(outcome, "paid" | "over")
}

fn late(outcomes: &[String]) -> Vec<usize> {
    (0..outcomes.len()).filter(|at| outcomes[*at] == "late").collect()
}

fn reference(payment: &Payment) -> Reference {
    match payment {
        Payment::Notice { reference, .. } | Payment::Again { reference, .. } => Reference::Of(*reference),
        Payment::Test { order } => Reference::Test(*order),
    }
}
