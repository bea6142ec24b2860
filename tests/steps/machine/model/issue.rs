//! Issuing, by the design's "Stock and holds" (waitlists) and "Issuing".

use std::collections::{BTreeMap, BTreeSet};

use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;

use super::super::catalogue::{ARTICLES, Sort};
use super::super::transition::Work;
use super::{Message, Model};

/// How often an issuer looks again at waitlists before it takes the next set.
const LOOKS_MAX: usize = 16;

impl Model {
    /// The issue step over one set. Returns the articles whose waitlists are to be looked at again.
    pub(super) fn issue(&mut self, works: &[Work]) -> Vec<usize> {
        let waited: BTreeSet<usize> = self.backordered();
        let arrived = arrived(works);
        let tried = self.candidates(works, &arrived);
        for number in &tried {
            self.try_one(*number);
        }
        self.attempts
            .retain(|number, _| works.len() > 1 || !tried.contains(number) && !arrived.contains(number));
        let by_itself = matches!(works, [Work::Order(_)]);
        let left = |number: &&usize| {
            let moved = self.orders[number].status != OrderStatus::Backordered;
            waited.contains(number) && (by_itself || (works.len() == 1 && moved))
        };
        tried.iter().filter(left).flat_map(|number| self.articles(*number)).collect()
    }

    fn backordered(&self) -> BTreeSet<usize> {
        let waits = |number: &usize| self.orders[number].status == OrderStatus::Backordered;
        self.orders.keys().copied().filter(waits).collect()
    }

    fn articles(&self, number: usize) -> Vec<usize> {
        self.orders
            .get(&number)
            .map_or(vec![], |order| order.lines.iter().map(|(article, _)| *article).collect())
    }

    /// Whoever waits, by turn; then the paid ones as they came. One order by itself brings nobody along.
    fn candidates(&self, works: &[Work], arrived: &[usize]) -> Vec<usize> {
        let mut filling: BTreeSet<usize> = works.iter().filter_map(|work| work.article()).collect();
        if works.len() > 1 {
            let waiting = arrived.iter().filter(|number| self.is_waiting(**number));
            filling.extend(waiting.flat_map(|number| self.articles(*number)));
        }
        let mut turns: BTreeMap<_, _> = arrived
            .iter()
            .filter(|number| self.is_waiting(**number))
            .map(|number| (self.orders[number].turn(*number), *number))
            .collect();
        for article in filling {
            turns.extend(self.shelves[article].waitlist.keys().map(|turn| (*turn, turn.1.1)));
        }
        let paid = arrived.iter().copied().filter(|number| self.has_status(*number, OrderStatus::Paid));
        turns.into_values().chain(paid).collect()
    }

    fn has_status(&self, number: usize, status: OrderStatus) -> bool {
        self.orders.get(&number).is_some_and(|order| order.status == status)
    }

    fn is_waiting(&self, number: usize) -> bool {
        self.has_status(number, OrderStatus::Backordered)
    }

    /// All its lines or none.
    fn try_one(&mut self, number: usize) {
        let order = self.orders[&number].clone();
        let turn = order.turn(number);
        if order
            .lines
            .iter()
            .any(|(article, quantity)| is_raffle(*article) && *quantity > self.to_be_had(*article))
        {
            return self.is_over(number);
        }
        let short: Vec<usize> =
            order.lines.iter().map(|(a, _)| *a).filter(|a| !self.serves(*a, number)).collect();
        if short.is_empty() {
            return self.give(number);
        }
        for article in short {
            self.shelves[article].waitlist.entry(turn).or_default();
        }
        self.orders.get_mut(&number).unwrap().status = OrderStatus::Backordered;
    }

    /// Its raffle has not so many shares any more: its money goes back.
    fn is_over(&mut self, number: usize) {
        let order = self.orders.get_mut(&number).unwrap();
        order.move_all(MoneyState::Settled, MoneyState::RefundDue);
        let owed = order.has(MoneyState::RefundDue) > 0;
        order.status = if owed { OrderStatus::RefundDue } else { OrderStatus::Refunded };
        for shelf in &mut self.shelves {
            shelf.waitlist.retain(|turn, _| turn.1.1 != number);
        }
    }

    /// There is enough, and nobody in the article's waitlist stands ahead.
    fn serves(&self, article: usize, number: usize) -> bool {
        let order = &self.orders[&number];
        let ahead =
            self.shelves[article].waitlist.keys().next().is_some_and(|head| *head < order.turn(number));
        !ahead && self.to_be_had(article) >= order.quantity(article)
    }

    fn give(&mut self, number: usize) {
        let order = self.orders.get_mut(&number).unwrap();
        order.status = OrderStatus::Issued;
        for (article, quantity) in order.lines.clone() {
            let shelf = &mut self.shelves[article];
            let from = shelf.issued;
            shelf.issued += usize::try_from(quantity).unwrap();
            order.given.push((article, from..shelf.issued));
        }
        for shelf in &mut self.shelves {
            shelf.waitlist.retain(|turn, _| turn.1.1 != number);
        }
    }

    /// The serial issuer takes all that the queue holds.
    pub(super) fn deliver(&mut self) {
        let (together, alone) = self.part();
        let mut more = if together.is_empty() { vec![] } else { self.issue(&together) };
        for number in alone {
            more.extend(self.issue(&[Work::Order(number)]));
        }
        for _ in 0..LOOKS_MAX {
            if more.is_empty() {
                break;
            }
            let works: Vec<Work> = more.drain(..).map(Work::Stock).collect();
            more = self.issue(&works);
        }
        let unknown = arrived(&together).into_iter().filter(|number| !self.orders.contains_key(number));
        self.letters.extend(unknown.collect::<Vec<_>>());
        self.queue.clear();
        self.note.clear();
    }

    /// What is issued as a set, and the pending orders that are tried alone: redelivered ones, and those that a
    /// killed issuer had noted.
    fn part(&self) -> (Vec<Work>, Vec<usize>) {
        let pending = |number: usize| {
            self.has_status(number, OrderStatus::AwaitingPayment)
                || self.has_status(number, OrderStatus::Paid)
                || self.is_waiting(number)
        };
        let (mut together, mut done, mut alone) = (vec![], vec![], vec![]);
        for Message { work, redelivered } in &self.queue {
            match work.order() {
                Some(number) if !(*redelivered || self.note.contains(&number)) || !pending(number) => {
                    let first = !*redelivered && !self.note.contains(&number);
                    if first { together.push(*work) } else { done.push(*work) }
                }
                Some(number) => alone.push(number),
                None => together.push(*work),
            }
        }
        together.extend(done);
        (together, alone)
    }

    /// The issuer dies in its first transaction; everything it had comes again.
    pub(super) fn kill(&mut self, done: bool) {
        let (together, alone) = self.part();
        self.note = match (together.is_empty(), alone.first()) {
            (true, Some(number)) => {
                *self.attempts.entry(*number).or_default() += 1;
                BTreeSet::from([*number])
            }
            _ => together.iter().filter_map(|work| work.order()).collect(),
        };
        if done {
            let lone = alone.first().map(|number| vec![Work::Order(*number)]);
            let set = if together.is_empty() { lone.unwrap_or_default() } else { together };
            self.issue(&set);
        }
        for message in &mut self.queue {
            message.redelivered = true;
        }
    }

    /// How far everybody is who waits for codes: equal once nothing moves.
    pub(in super::super) fn progress(&self) -> (usize, Vec<OrderStatus>) {
        (self.queue.len(), self.orders.values().map(|order| order.status).collect())
    }

    /// Once nothing moves, whoever is paid has codes, or waits for stock that is not there.
    pub(in super::super) fn assert_nobody_is_forgotten(&self) {
        for (number, order) in &self.orders {
            assert_ne!(order.status, OrderStatus::Paid, "order #{number} is paid and forgotten");
            let fits = || order.lines.iter().all(|(article, _)| self.serves(*article, *number));
            assert!(!self.is_waiting(*number) || !fits(), "order #{number} waits for what is there");
        }
    }

    /// Whether another kill could make an order's lone tries more than are allowed: then it would be given up.
    pub(in super::super) fn is_worn(&self) -> bool {
        self.attempts.values().any(|attempts| *attempts >= 2)
    }
}

pub(super) fn is_raffle(article: usize) -> bool {
    matches!(ARTICLES[article].sort, Sort::Raffle { .. })
}

/// Each order once, as it came first.
fn arrived(works: &[Work]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    works.iter().filter_map(|work| work.order()).filter(|number| seen.insert(*number)).collect()
}

impl Work {
    fn order(self) -> Option<usize> {
        match self {
            Self::Order(number) => Some(number),
            Self::Stock(_) => None,
        }
    }

    fn article(self) -> Option<usize> {
        match self {
            Self::Order(_) => None,
            Self::Stock(article) => Some(article),
        }
    }
}
