//! Issuing: which codes a set of paid orders gets, decided one after the other in memory.
//!
//! An order gets all its lines or none. A product whose waitlist is not empty serves nobody who comes
//! later than its head: the waitlist is strict, by (paid at, id). See the design, "Stock and holds".

use std::collections::{BTreeMap, BTreeSet};

use crate::batch::OpenBatch;
use crate::ids::{BatchId, OrderId, ProductId};
use crate::span::Span;
use crate::time::Timestamp;

#[cfg(test)]
mod tests;

/// The most inputs in one set, of whatever step.
pub const SET_MAX: usize = 256;

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
}

/// The open batches and waitlists of every product that the set touches, read under their locks.
#[derive(Debug, Default)]
pub struct Stockroom {
    /// In the order they are used: earliest expiry first, then oldest.
    batches: BTreeMap<ProductId, Vec<OpenBatch>>,
    waitlists: BTreeMap<ProductId, BTreeSet<Turn>>,
}

impl Stockroom {
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
        for candidate in candidates {
            self.attempt(candidate, &mut plan);
        }
        plan
    }

    /// Codes of a product that are still to be had.
    pub fn unissued(&self, product: ProductId) -> i64 {
        self.batches.get(&product).map_or(0, |batches| batches.iter().map(OpenBatch::unissued).sum())
    }

    fn attempt(&mut self, candidate: &Candidate, plan: &mut Plan) {
        let short: Vec<ProductId> = candidate
            .lines
            .iter()
            .filter(|(_, product, quantity)| !self.serves(*product, *quantity, candidate.turn()))
            .map(|(_, product, _)| *product)
            .collect();
        if short.is_empty() {
            self.issue(candidate, plan);
        } else {
            self.wait(candidate, &short, plan);
        }
    }

    /// Nobody stands ahead in the product's waitlist, and the codes suffice.
    fn serves(&self, product: ProductId, quantity: i64, turn: Turn) -> bool {
        let head = self.waitlists.get(&product).and_then(BTreeSet::first);
        head.is_none_or(|head| turn <= *head) && self.unissued(product) >= quantity
    }

    fn issue(&mut self, candidate: &Candidate, plan: &mut Plan) {
        for (line, product, quantity) in &candidate.lines {
            let (mut left, mut part) = (*quantity, 0);
            for batch in self.batches.entry(*product).or_default() {
                if left == 0 {
                    break;
                }
                let given = batch.take(left, candidate.order, *line, &mut part, &mut plan.spans);
                if given > 0 {
                    plan.advanced.insert(batch.id, batch.issued);
                }
                left -= given;
            }
            *plan.released.entry(*product).or_default() += quantity;
            if let Some(waitlist) = self.waitlists.get_mut(product) {
                waitlist.remove(&candidate.turn());
            }
        }
        plan.issued.push(candidate.order);
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
