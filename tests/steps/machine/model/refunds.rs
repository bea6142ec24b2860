//! Refunds that are told, by the design's "Rules that money follows": out of refund due, then settled, then unmatched;
//! operators confirm no settled money.

use std::collections::BTreeMap;

use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;

use super::super::transition::Told;
use super::Model;
use super::pay::Reference;

/// A refund that was kept.
#[derive(Clone)]
pub(super) struct Known {
    told: Told,
    minor: i64,
    /// How much of unmatched money it moved.
    unmatched: i64,
    /// Whether a notice told of what an operator had confirmed.
    is_told: bool,
}

impl Model {
    /// Payments whose money is all there is of their order, or that belong to none: of others only the sum is known here.
    pub(in super::super) fn refundable(&self) -> Vec<usize> {
        let alone = |reference: &usize| match self.order_of(*reference) {
            Some(order) => {
                self.taken.keys().filter(|other| self.order_of_any(**other) == Some(order)).count() == 1
            }
            None => true,
        };
        let known = self.taken.keys().filter_map(|reference| match reference {
            Reference::Of(reference) => Some(*reference),
            Reference::Test(_) => None,
        });
        known.filter(alone).collect()
    }

    fn order_of(&self, reference: usize) -> Option<usize> {
        self.order_of_any(Reference::Of(reference))
    }

    /// The order that a payment was matched with. None was placed after its payment.
    fn order_of_any(&self, reference: Reference) -> Option<usize> {
        let notice = &self.taken[&reference];
        let order = self.orders.get(&notice.order)?;
        (order.currency == notice.currency && !self.nobodys.contains(&reference)).then_some(notice.order)
    }

    pub(super) fn told(&mut self, told: &Told) -> String {
        let mut known = self.refunds.iter().filter(|known| {
            let (one, other) = (&known.told, told);
            one.by_hand == other.by_hand
                && one.name == other.name
                && (other.by_hand || one.reference == other.reference)
        });
        if let Some(before) = known.next() {
            let same = before.told.reference == told.reference;
            return match same && told.minor.is_none_or(|minor| minor == before.minor) {
                true => "repeated".to_owned(),
                false if told.by_hand => "another's name".to_owned(),
                false => self.recorded(),
            };
        }
        let portions = self.portions(told.reference);
        let of = |state| portions.get(&state).copied().unwrap_or(0);
        let settled = if told.by_hand { 0 } else { of(MoneyState::Settled) };
        let there = of(MoneyState::RefundDue) + settled + of(MoneyState::Unmatched);
        let minor = told.minor.unwrap_or(there);
        if told.by_hand && !(1..=there).contains(&minor) {
            return format!("only {there} is there");
        }
        let confirmed = self.refunds.iter_mut().find(|known| {
            known.told.by_hand
                && known.told.reference == told.reference
                && known.minor == minor
                && !known.is_told
        });
        if let Some(confirmed) = confirmed.filter(|_| !told.by_hand) {
            confirmed.is_told = true;
            self.refunds.push(Known { told: *told, minor, unmatched: 0, is_told: true });
            return "moved 0, fits true".to_owned();
        }
        self.pay_back(told, minor, there)
    }

    fn pay_back(&mut self, told: &Told, minor: i64, there: i64) -> String {
        let moved = minor.min(there);
        let mut unmatched = 0;
        match self.order_of(told.reference) {
            Some(number) => self.leave(number, moved),
            None => unmatched = moved,
        }
        self.unmatched -= unmatched;
        self.refunds.push(Known { told: *told, minor, unmatched, is_told: false });
        if moved < minor {
            self.contradictions += 1;
        }
        format!("moved {moved}, fits {}", moved == minor)
    }

    /// An order's money leaves, refund due first; one that is `refund_due` is refunded with the last.
    fn leave(&mut self, number: usize, moved: i64) {
        let order = self.orders.get_mut(&number).unwrap();
        let mut left = moved;
        for state in [MoneyState::RefundDue, MoneyState::Settled] {
            let there = order.money.entry(state).or_default();
            let taken = left.min(*there);
            *there -= taken;
            left -= taken;
        }
        *order.money.entry(MoneyState::Refunded).or_default() += moved;
        order.money.retain(|_, minor| *minor != 0);
        let owed = order.money.keys().any(|state| *state != MoneyState::Refunded);
        if order.status == OrderStatus::RefundDue && !owed {
            order.status = OrderStatus::Refunded;
        }
    }

    fn recorded(&mut self) -> String {
        self.contradictions += 1;
        "recorded".to_owned()
    }

    fn portions(&self, reference: usize) -> BTreeMap<MoneyState, i64> {
        if let Some(order) = self.order_of(reference) {
            return self.orders[&order].money.clone();
        }
        let gone = self.refunds.iter().filter(|known| known.told.reference == reference);
        let gone: i64 = gone.map(|known| known.unmatched).sum();
        [(MoneyState::Unmatched, self.taken[&Reference::Of(reference)].minor - gone)].into()
    }
}
