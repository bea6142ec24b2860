//! Issuing: which codes a set of paid orders gets, decided one after the other in memory.
//!
//! An order gets all its lines or none. A product whose waitlist is not empty serves nobody who comes
//! later than its head: the waitlist is strict, by (paid at, id). See the design, "Stock and holds".

use std::collections::{BTreeMap, BTreeSet};

use crate::batch::OpenBatch;
use crate::ids::{BatchId, OrderId, ProductId};
use crate::round::{Fit, NewRound, RaffleRoom, Settled, Turned};
use crate::span::Span;
use crate::time::Timestamp;

#[cfg(test)]
mod tests;

/// The most inputs in one set, of whatever step.
pub const SET_MAX: usize = 256;

/// The most rounds that one set opens; an order that would open another is first in the next set. There it is issued
/// whatever it opens: one that needs more than all of them, as when `shares` became fewer, would be put off for ever.
pub const ROUNDS_MAX: usize = 16;

/// A turn in a waitlist: paid earlier stands further ahead.
pub type Turn = (Timestamp, OrderId);

/// An order that is paid or backordered, to be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The order.
    pub order: OrderId,
    /// When its payment was taken.
    pub paid_at: Timestamp,
    /// Whether it stands in a waitlist already.
    pub backordered: bool,
    /// Line number, product, quantity.
    pub lines: Vec<(i32, ProductId, i64)>,
}

impl Candidate {
    /// Its turn in every waitlist it stands in.
    pub const fn turn(&self) -> Turn {
        (self.paid_at, self.order)
    }
}

/// What a set decided: to be written as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// New links of the chains, in order.
    pub spans: Vec<Span>,
    /// Batches that moved, with where `issued` is now.
    pub advanced: BTreeMap<BatchId, i64>,
    /// Orders that have their codes.
    pub issued: Vec<OrderId>,
    /// Orders that became backordered by this set.
    pub backordered: Vec<OrderId>,
    /// Waitlists joined.
    pub joined: Vec<(ProductId, Turn)>,
    /// Claims that fell, by product.
    pub released: BTreeMap<ProductId, i64>,
    /// Rounds that moved.
    pub rounds: BTreeMap<BatchId, Turned>,
    /// Rounds that opened, in order.
    pub opened: Vec<NewRound>,
    /// Raffles without a round to follow from now on.
    pub ending: BTreeSet<ProductId>,
    /// Orders whose raffle is over: their money goes back.
    pub over: Vec<OrderId>,
    /// Orders for the next set: this one has opened all the rounds it may.
    pub deferred: Vec<OrderId>,
}

/// The open batches and waitlists of every product that the set touches, read under their locks.
#[derive(Default)]
pub struct Stockroom {
    /// In the order they are used: earliest expiry first, then oldest.
    batches: BTreeMap<ProductId, Vec<OpenBatch>>,
    waitlists: BTreeMap<ProductId, BTreeSet<Turn>>,
    raffles: BTreeMap<ProductId, RaffleRoom>,
}

impl Stockroom {
    /// Adds a raffle.
    pub fn raffle(&mut self, room: RaffleRoom) {
        self.raffles.insert(room.product, room);
    }

    /// Whether the product is a raffle here.
    pub fn is_raffle(&self, product: ProductId) -> bool {
        self.raffles.contains_key(&product)
    }

    /// Adds a batch behind those of its product that are used before it.
    pub fn add(&mut self, batch: OpenBatch) {
        self.batches.entry(batch.product).or_default().push(batch);
    }

    /// Says who waits for a product.
    pub fn waits(&mut self, product: ProductId, turn: Turn) {
        self.waitlists.entry(product).or_default().insert(turn);
    }

    /// Decides every candidate in turn.
    pub fn plan(&mut self, candidates: &[Candidate]) -> Plan {
        let mut plan = Plan::default();
        for room in self.raffles.values_mut() {
            // One may have been burned to its end after a restore.
            let Settled { spent, opened } = room.settle();
            plan.rounds.extend(spent);
            plan.opened.extend(opened);
        }
        for candidate in candidates {
            self.attempt(candidate, &mut plan);
        }
        let opened: BTreeSet<ProductId> = plan.opened.iter().map(|new| new.product).collect();
        plan.ending =
            opened.into_iter().filter(|p| self.raffles.get(p).is_some_and(RaffleRoom::claims)).collect();
        plan
    }

    /// Codes of a product that are still to be had.
    pub fn unissued(&self, product: ProductId) -> i64 {
        self.batches.get(&product).map_or(0, |batches| batches.iter().map(OpenBatch::unissued).sum())
    }

    fn attempt(&mut self, candidate: &Candidate, plan: &mut Plan) {
        if self.put_off(candidate, plan) {
            return;
        }
        let short: Vec<ProductId> = candidate
            .lines
            .iter()
            .filter(|(_, product, quantity)| {
                !self.is_raffle(*product) && !self.serves(*product, *quantity, candidate.turn())
            })
            .map(|(_, product, _)| *product)
            .collect();
        if short.is_empty() {
            self.issue(candidate, plan);
        } else {
            self.wait(candidate, &short, plan);
        }
    }

    /// Whether a raffle of the order is over, or has to open more rounds than this set may.
    fn put_off(&mut self, candidate: &Candidate, plan: &mut Plan) -> bool {
        let of = |(_, product, quantity): &(i32, ProductId, i64)| {
            self.raffles.get(product).map(|room| room.fit(*quantity))
        };
        let fits: Vec<Fit> = candidate.lines.iter().filter_map(of).collect();
        if fits.contains(&Fit::Over) {
            self.let_go(candidate, plan);
            plan.over.push(candidate.order);
            return true;
        }
        let opens: usize = fits.iter().map(|fit| if let Fit::Fits(opens) = fit { *opens } else { 0 }).sum();
        let too_many = !plan.opened.is_empty() && plan.opened.len() + opens > ROUNDS_MAX;
        let later = !fits.is_empty() && (too_many || !plan.deferred.is_empty());
        if later {
            plan.deferred.push(candidate.order);
        }
        later
    }

    /// The order is not pending any more: its claims fall, and its turns go to those behind it.
    fn let_go(&mut self, candidate: &Candidate, plan: &mut Plan) {
        for (_, product, quantity) in &candidate.lines {
            *plan.released.entry(*product).or_default() += quantity;
            if let Some(waitlist) = self.waitlists.get_mut(product) {
                waitlist.remove(&candidate.turn());
            }
        }
    }

    /// Nobody stands ahead in the product's waitlist, and the codes suffice.
    fn serves(&self, product: ProductId, quantity: i64, turn: Turn) -> bool {
        let head = self.waitlists.get(&product).and_then(BTreeSet::first);
        head.is_none_or(|head| turn <= *head) && self.unissued(product) >= quantity
    }

    fn issue(&mut self, candidate: &Candidate, plan: &mut Plan) {
        for (line, product, quantity) in &candidate.lines {
            match self.raffles.get_mut(product) {
                Some(room) => give_shares(room, (candidate.order, *line, *quantity), plan),
                None => self.give((candidate.order, *line, *quantity), *product, plan),
            }
        }
        self.let_go(candidate, plan);
        plan.issued.push(candidate.order);
    }

    fn give(&mut self, (order, line, quantity): (OrderId, i32, i64), product: ProductId, plan: &mut Plan) {
        let (mut left, mut part) = (quantity, 0);
        for batch in self.batches.entry(product).or_default() {
            if left == 0 {
                break;
            }
            let given = batch.take(left, order, line, &mut part, &mut plan.spans);
            if given > 0 {
                plan.advanced.insert(batch.id, batch.issued);
            }
            left -= given;
        }
    }

    fn wait(&mut self, candidate: &Candidate, short: &[ProductId], plan: &mut Plan) {
        for product in short {
            if self.waitlists.entry(*product).or_default().insert(candidate.turn()) {
                plan.joined.push((*product, candidate.turn()));
            }
        }
        if !candidate.backordered {
            plan.backordered.push(candidate.order);
        }
    }
}

/// A line's shares; rounds that fill are full in the plan, and the next ones are in it too.
fn give_shares(room: &mut RaffleRoom, line: (OrderId, i32, i64), plan: &mut Plan) {
    let Plan { spans, advanced, rounds, opened, .. } = plan;
    let mut moved = |round: &crate::round::OpenRound| {
        advanced.insert(round.batch.id, round.batch.issued);
        let full = round.batch.unissued() == 0;
        rounds.insert(round.batch.id, Turned { digest: round.digest, full });
    };
    room.give(line, spans, &mut moved, opened);
}
