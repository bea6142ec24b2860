//! The sweeper, by the design's decision 3.

use tessera_model::order::OrderStatus;

use super::super::transition::Work;
use super::{Model, Turn};

/// How long an order has been unheard before it is told again, in seconds; doubled while the queue holds messages.
pub(super) const BOUND_MIN: u64 = 3;
pub(super) const BOUND_MAX: u64 = 60;

impl Model {
    pub(super) fn sweep(&mut self) {
        self.bound = if self.queue.is_empty() { BOUND_MIN } else { (self.bound * 2).min(BOUND_MAX) };
        let (paid, heads) = (self.unheard(), self.fillable());
        let now = Some(self.now);
        for number in &paid {
            self.orders.get_mut(number).unwrap().told_at = now;
        }
        for shelf in &mut self.shelves {
            for (turn, told_at) in &mut shelf.waitlist {
                if heads.contains(&turn.1.1) {
                    *told_at = now;
                }
            }
        }
        for number in paid.into_iter().chain(heads) {
            self.publish(Work::Order(number));
        }
    }

    fn is_before(&self, at: u64) -> bool {
        at + self.bound * 1_000 < self.now
    }

    /// Paid orders of which nobody was told for so long; the longest first, then by turn.
    fn unheard(&self) -> Vec<usize> {
        let paid = self.orders.iter().filter(|(_, order)| order.status == OrderStatus::Paid);
        let heard = paid.map(|(number, order)| {
            let turn = order.turn(*number);
            (order.told_at.unwrap_or(turn.0), turn)
        });
        let mut unheard: Vec<(u64, Turn)> = heard.filter(|(at, _)| self.is_before(*at)).collect();
        unheard.sort_unstable();
        unheard.into_iter().map(|(_, turn)| turn.1.1).collect()
    }

    /// Heads of waitlists that what is on the shelf suffices for; once for each such waitlist.
    fn fillable(&self) -> Vec<usize> {
        let mut heads: Vec<(u64, Turn)> = vec![];
        for (article, shelf) in self.shelves.iter().enumerate() {
            let Some((turn, told_at)) = shelf.waitlist.first_key_value() else { continue };
            let (at, order) = (told_at.unwrap_or(turn.0), &self.orders[&turn.1.1]);
            if self.is_before(at) && order.quantity(article) <= self.unissued(article) {
                heads.push((at, *turn));
            }
        }
        heads.sort_unstable();
        heads.into_iter().map(|(_, turn)| turn.1.1).collect()
    }
}
