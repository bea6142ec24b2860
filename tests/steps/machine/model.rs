//! The reference: a shop in plain memory, written from the design's rules and from no other code.
//!
//! What can be counted from the orders is counted from them and kept nowhere: claims, customers' units.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Formatter};

use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;

use super::catalogue::ARTICLES;
use super::transition::{Act, Deed, Fault, Transition, Work};

mod issue;
mod operators;
mod pay;
mod place;
mod refunds;
mod release;
mod stock;
mod sweep;

pub(super) use pay::Notice;

/// Every state of an order and everything that hangs on it.
#[derive(Clone)]
pub(super) struct Model {
    /// Milliseconds since the beginning.
    pub(super) now: u64,
    pub(super) orders: BTreeMap<usize, Order>,
    /// The number of the next order that is asked for.
    pub(super) next_order: usize,
    pub(super) shelves: [Shelf; ARTICLES.len()],
    /// What each request's key made: body, order, when.
    pub(super) keys: BTreeMap<u8, (place::Body, usize, u64)>,
    /// The first notice under each reference, taken or not.
    pub(super) notices: BTreeMap<usize, Notice>,
    /// References that were taken, with what the payment said.
    taken: BTreeMap<pay::Reference, Notice>,
    /// Payments that were matched with no order when they came.
    nobodys: BTreeSet<pay::Reference>,
    /// Refunds that were told and kept.
    refunds: Vec<refunds::Known>,
    /// Money of no order.
    pub(super) unmatched: i64,
    /// Notices kept because they contradict what is known.
    pub(super) contradictions: usize,
    /// Numbers that messages named and no order has; each was written down.
    pub(super) letters: BTreeSet<usize>,
    /// Orders that were seen to be due, and are not looked at again before the next expiry.
    due: BTreeSet<usize>,
    pub(super) queue: Vec<Message>,
    /// Seconds that the sweeper gives an order.
    bound: u64,
    /// Orders that a killed issuer noted as in its hand.
    note: BTreeSet<usize>,
    /// Lone tries of orders that have had no outcome yet.
    attempts: BTreeMap<usize, u8>,
    /// What the last act came to, input by input.
    pub(super) outcomes: Vec<String>,
    /// Whether what went wrong with it was the commit of late payments, which is their second.
    pub(super) late_fault: bool,
}

#[derive(Clone)]
pub(super) struct Order {
    pub(super) buyer: usize,
    /// One an article, in the order of their first mention.
    pub(super) lines: Vec<(usize, i64)>,
    pub(super) due: i64,
    pub(super) currency: &'static str,
    pub(super) status: OrderStatus,
    hold_until: u64,
    paid_at: Option<u64>,
    told_at: Option<u64>,
    pub(super) money: BTreeMap<MoneyState, i64>,
    /// For each line which of the article's codes, counted in the order of giving.
    pub(super) given: Vec<(usize, std::ops::Range<usize>)>,
}

#[derive(Clone, Default)]
pub(super) struct Shelf {
    /// How many codes each batch brought, oldest first.
    pub(super) batches: Vec<usize>,
    pub(super) issued: usize,
    /// Who waits, each with when the sweeper last told of them.
    pub(super) waitlist: BTreeMap<Turn, Option<u64>>,
}

/// Paid earlier stands further ahead; of those paid at once, the lower id.
pub(super) type Turn = (u64, (u8, usize));

#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) work: Work,
    redelivered: bool,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            now: 0,
            orders: BTreeMap::new(),
            next_order: 0,
            shelves: ARTICLES
                .map(|article| Shelf { batches: article.made().into_iter().collect(), ..Shelf::default() }),
            keys: BTreeMap::new(),
            notices: BTreeMap::new(),
            taken: BTreeMap::new(),
            nobodys: BTreeSet::new(),
            refunds: vec![],
            unmatched: 0,
            contradictions: 0,
            letters: BTreeSet::new(),
            due: BTreeSet::new(),
            queue: vec![],
            bound: sweep::BOUND_MIN,
            note: BTreeSet::new(),
            attempts: BTreeMap::new(),
            outcomes: vec![],
            late_fault: false,
        }
    }
}

impl Debug for Model {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("an empty shop")
    }
}

/// Ids do not ascend with an order's number, so that ties are not told by who came first.
pub(super) fn id_rank(order: usize) -> (u8, usize) {
    let [low, ..] = order.to_le_bytes();
    (low.reverse_bits(), order)
}

impl Model {
    /// What is there after a transition.
    pub(super) fn after(mut self, transition: &Transition) -> Self {
        let act = &transition.act;
        self.late_fault = false;
        self.outcomes = match transition.fault {
            Some(fault) if self.commits(act) => self.faulty(act, fault),
            Some(_) | None => self.whole(act),
        };
        if matches!(act, Act::Expire) {
            self.due.clear();
        }
        self
    }

    /// Whether there is a commit for a fault to strike.
    fn commits(&self, act: &Act) -> bool {
        match act {
            Act::Import(file) => file.fresh > 0,
            Act::Expire => !self.expiring().is_empty(),
            _ => true,
        }
    }

    fn faulty(&mut self, act: &Act, fault: Fault) -> Vec<String> {
        match (act, fault) {
            // The file's first commits are done, the one that puts it on sale is not.
            (Act::Import(_), Fault::Refused | Fault::DoubtNotDone) => {
                self.now += stock::IMPORT_MILLIS;
                vec!["unavailable".to_owned()]
            }
            (Act::Import(_), Fault::Lost | Fault::DoubtDone) => {
                self.quietly(act);
                vec!["unavailable".to_owned()]
            }
            (Act::Pay(set), _) if self.is_any_late(set) => {
                self.late_fault = true;
                self.pay_with_late_fault(set, fault)
            }
            (Act::Deed(Deed::Accept, order), Fault::DoubtDone | Fault::DoubtNotDone) => {
                vec![self.accept_in_doubt(*order, fault)]
            }
            (_, Fault::Refused) => unavailable(act),
            (_, Fault::DoubtNotDone) => self.whole(act),
            (_, Fault::DoubtDone) => {
                // What contradicts is kept under an id of its own, which comes again.
                let contradictions = self.contradictions;
                self.quietly(act);
                let kept = std::mem::replace(&mut self.contradictions, contradictions);
                let outcomes = self.whole(act);
                // A refund that did not fit is known the second time, and not kept again.
                self.contradictions = self.contradictions.max(kept);
                outcomes
            }
            (_, Fault::Lost) => {
                self.quietly(act);
                unavailable(act)
            }
        }
    }

    /// The commit of an act that counts, and nothing that follows it.
    fn quietly(&mut self, act: &Act) {
        match act {
            Act::Place(set) => drop(self.place_set(set)),
            Act::Pay(set) => drop(self.pay_in_time(set)),
            Act::Cancel(order) => drop(self.cancel(*order)),
            Act::Deed(deed, order) => drop(self.deed_alone(*deed, *order)),
            Act::Told(told) => drop(self.told(told)),
            Act::Expire => self.expire(),
            Act::Import(file) => drop(self.import(file)),
            Act::Issue(works) => drop(self.issue(works)),
            _ => panic!("no commit of its own: {act:?}"),
        }
    }

    fn whole(&mut self, act: &Act) -> Vec<String> {
        match act {
            Act::Place(set) => return self.place(set),
            Act::Pay(set) => return self.pay(set),
            Act::Cancel(order) => return vec![self.cancel(*order)],
            Act::Deed(deed, order) => return vec![self.deed(*deed, *order)],
            Act::Told(told) => return vec![self.told(told)],
            Act::Import(file) => return vec![self.import(file)],
            Act::Look => self.due = self.due_now(),
            Act::Wait(seconds) => self.now += seconds * 1_000,
            Act::Expire => self.expire(),
            Act::Tell(work) => self.publish(*work),
            Act::Sweep => self.sweep(),
            Act::Deliver => self.deliver(),
            Act::Kill { done } => self.kill(*done),
            Act::Purge => self.queue.clear(),
            Act::Issue(works) => drop(self.issue(works)),
            Act::Crash => {
                self.queue.clear();
                self.bound = sweep::BOUND_MIN;
            }
        }
        vec![]
    }

    fn publish(&mut self, work: Work) {
        self.queue.push(Message { work, redelivered: false });
    }
}

fn unavailable(act: &Act) -> Vec<String> {
    let inputs = match act {
        Act::Place(set) => set.len(),
        Act::Pay(set) => set.len(),
        Act::Cancel(_) | Act::Deed(..) | Act::Told(_) => 1,
        _ => 0,
    };
    vec!["unavailable".to_owned(); inputs]
}
