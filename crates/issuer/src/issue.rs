//! Issue: paid orders get their codes, backordered ones are filled, in one set.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tessera_faults::{Break, broken};
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::issue::{Candidate, Plan, SET_MAX, Stockroom};
use tessera_model::order::{Order, OrderState, OrderStatus};
use tessera_store::{Result, Step, StoreError, Tx};

use crate::copies::{Committed, Known, OLDER};
use crate::rounds::Mint;

mod read;
mod write;

/// What an issuer is asked to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// An order that is said to be paid, or to head a waitlist.
    Order(OrderId),
    /// A product that is said to have new stock.
    Stock(ProductId),
}

/// What became of one piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueOutcome {
    /// The order has its codes.
    Issued,
    /// It waits for stock.
    Backordered,
    /// Its raffle is over: its money is to be paid back.
    Over,
    /// The set has opened all the rounds it may: it is first in the next.
    Deferred,
    /// It is in this state, and nothing was to be done: a redelivery, mostly.
    NothingToDo(OrderStatus),
    /// No such order.
    Unknown,
    /// A product's waitlist was looked at.
    Looked,
}

/// An outcome, and on the first of a set also what the set did beyond its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueResult {
    /// What became of the input.
    pub outcome: IssueOutcome,
    /// The set's effects; empty but on the first.
    pub effects: Effects,
}

/// What a set changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Orders whose buyers should be woken.
    pub changed: Vec<OrderId>,
    /// Products whose waitlists may have more to fill: to be looked at again.
    pub more: Vec<ProductId>,
    /// Orders for the next set, in their order.
    pub again: Vec<OrderId>,
    /// The store's pair after it, and how far batches were given out, if it changed anything.
    pub committed: Option<Committed>,
}

impl Effects {
    /// What another set changed, too.
    pub(crate) fn add(&mut self, other: Self) {
        self.changed.extend(other.changed);
        self.more.extend(other.more);
        self.again.extend(other.again);
    }
}

/// The step.
pub struct Issue {
    mint: Mint,
    pub(crate) known: Known,
}

impl Issue {
    /// The step with what opening rounds takes.
    pub fn new(mint: Mint) -> Self {
        Self { mint, known: Known::default() }
    }
}

#[async_trait]
impl Step for Issue {
    const NAME: &str = "issue";
    type Input = Work;
    type Output = IssueResult;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[Work], again: bool) -> Result<Vec<IssueResult>> {
        let mut room = read::lock(tx, &self.mint, inputs).await?;
        let candidates = candidates(&room);
        let plan = room.stockroom.plan(&candidates);
        let issued: BTreeSet<OrderId> = plan.issued.iter().copied().collect();
        let meta = write::plan(tx, &self.mint, &plan, &room.orders, inputs.len() == 1).await?;
        if meta.is_some_and(|meta| !self.known.precedes(meta)) {
            return Err(StoreError::Unavailable(OLDER.to_owned()));
        }

        let mut effects = effects(&plan, &room, &issued, inputs);
        effects.committed = match meta {
            Some(meta) => Some((meta.into(), plan.advanced.iter().map(|(b, upto)| (*b, *upto)).collect())),
            // The commit of an earlier run was in doubt, and may be seen to be done.
            None if again => Some(seen_done(tx, inputs).await?),
            None => None,
        };
        let outcome = |work: &Work| outcome(*work, &room.orders, &plan, &issued);
        let mut results: Vec<IssueResult> = inputs
            .iter()
            .map(|work| IssueResult { outcome: outcome(work), effects: Effects::default() })
            .collect();
        if let Some(first) = results.first_mut() {
            first.effects = effects;
        }
        Ok(results)
    }
}

/// What an earlier run of a set has committed, or whoever has done its orders since.
async fn seen_done(tx: &mut dyn Tx, inputs: &[Work]) -> Result<Committed> {
    let orders = inputs.iter().filter_map(|work| match work {
        Work::Order(id) => Some(*id),
        Work::Stock(_) => None,
    });
    let spans = tx.spans_of(&orders.collect::<Vec<_>>()).await?;
    let mut given: BTreeMap<BatchId, i64> = BTreeMap::new();
    for span in spans {
        let upto = given.entry(span.batch.id).or_default();
        *upto = span.upto.max(*upto);
    }
    Ok((tx.meta().await?.into(), given.into_iter().collect()))
}

/// What a set is decided on, under lock.
struct Room {
    /// The set's orders and the waitlisted ones it may fill.
    orders: BTreeMap<OrderId, Order>,
    lines: BTreeMap<OrderId, Vec<(i32, ProductId, i64)>>,
    /// Paid orders of the set, in the order they arrived.
    arrived: Vec<OrderId>,
    /// Waitlists to be filled that go on beyond the set, each with its last order in front of that point.
    unfinished: BTreeMap<ProductId, Option<OrderId>>,
    stockroom: Stockroom,
}

/// Backordered orders by their place in the waitlist, then paid ones as they arrived.
fn candidates(room: &Room) -> Vec<Candidate> {
    let candidate = |order: &Order, paid_at, backordered| Candidate {
        order: order.id,
        paid_at,
        backordered,
        lines: room.lines.get(&order.id).cloned().unwrap_or_default(),
    };
    let mut waiting: Vec<Candidate> = room
        .orders
        .values()
        .filter_map(|order| match order.state {
            OrderState::Backordered { paid_at } => Some(candidate(order, paid_at, true)),
            _ => None,
        })
        .collect();
    waiting.sort_by_key(Candidate::turn);
    let paid = room.arrived.iter().filter_map(|id| match room.orders.get(id) {
        Some(order) => match order.state {
            OrderState::Paid { paid_at } => Some(candidate(order, paid_at, false)),
            state if broken(Break::IssueWithoutStateGuard) => {
                Some(candidate(order, state.paid_at().unwrap_or(order.created_at), false))
            }
            _ => None,
        },
        None => None,
    });
    waiting.extend(paid);
    waiting
}

fn outcome(
    work: Work,
    orders: &BTreeMap<OrderId, Order>,
    plan: &Plan,
    issued: &BTreeSet<OrderId>,
) -> IssueOutcome {
    let Work::Order(id) = work else { return IssueOutcome::Looked };
    let Some(order) = orders.get(&id) else { return IssueOutcome::Unknown };
    match order.state.status() {
        _ if issued.contains(&id) => IssueOutcome::Issued,
        _ if plan.backordered.contains(&id) => IssueOutcome::Backordered,
        _ if plan.over.contains(&id) => IssueOutcome::Over,
        _ if plan.deferred.contains(&id) => IssueOutcome::Deferred,
        OrderStatus::Backordered => IssueOutcome::Backordered,
        status => IssueOutcome::NothingToDo(status),
    }
}

/// A waitlist that goes on beyond the set may have more to fill, unless the set's part of it was not filled to
/// its end; so may those of an order that left them, or that was tried by itself and brought nobody along.
fn effects(plan: &Plan, room: &Room, issued: &BTreeSet<OrderId>, inputs: &[Work]) -> Effects {
    let (alone, by_itself) = (inputs.len() == 1, matches!(inputs, [Work::Order(_)]));
    let gone = |order: &OrderId| issued.contains(order) || plan.over.contains(order);
    let filled = |last: &Option<OrderId>| last.as_ref().is_none_or(gone);
    let read = room.unfinished.iter().filter(|(_, last)| filled(last)).map(|(p, _)| *p);
    let left = room.orders.values().filter(|order| {
        let waited = order.state.status() == OrderStatus::Backordered;
        waited && (by_itself || (alone && gone(&order.id)))
    });
    let left = left.filter_map(|order| room.lines.get(&order.id)).flatten().map(|(_, product, _)| *product);
    let more = read.chain(left).collect();
    let changed = plan.issued.iter().chain(&plan.backordered).chain(&plan.over).copied().collect();
    Effects { changed, more, again: plan.deferred.clone(), committed: None }
}

/// How much of each waitlist a set reads: one more than it may fill, its own orders and as many from the head, so
/// that the next one still stands ahead of those who come later.
const WAITLIST_READ: usize = 2 * SET_MAX + 1;
