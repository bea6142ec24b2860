//! New orders, by the design's "Stock and holds" and the contract's order of refusals.

use std::collections::BTreeMap;

use tessera_model::order::OrderStatus;

use super::super::catalogue::{ARTICLES, BUYERS};
use super::super::transition::{New, Work};
use super::{Model, Order};

/// What was asked: two requests are the same if these are.
pub(in super::super) type Body = (usize, Vec<(usize, i64)>);

/// How long a key is kept.
const KEPT_MILLIS: u64 = 48 * 3_600_000;

impl New {
    /// What was asked, after parsing: lines of one article are one.
    pub(in super::super) fn body(&self) -> Body {
        let mut merged: Vec<(usize, i64)> = vec![];
        for (article, quantity) in &self.lines {
            match merged.iter_mut().find(|(known, _)| known == article) {
                Some((_, sum)) => *sum += quantity,
                None => merged.push((*article, *quantity)),
            }
        }
        (self.buyer, merged)
    }
}

impl Model {
    /// No order has the number, and no dead letter is about it: one that is placed after its message was written down
    /// as nobody's is left to operators.
    pub(in super::super) fn is_free(&self, number: usize) -> bool {
        !self.orders.contains_key(&number) && !self.letters.contains(&number)
    }

    pub(super) fn place(&mut self, set: &[New]) -> Vec<String> {
        let outcomes = self.place_set(set);
        // The desk tells of a free order at once; the step by itself tells nobody.
        if let [new] = set
            && outcomes == ["placed"]
            && self.orders[&new.order].status == OrderStatus::Paid
        {
            self.publish(Work::Order(new.order));
        }
        outcomes
    }

    pub(super) fn place_set(&mut self, set: &[New]) -> Vec<String> {
        let last = set.iter().map(|new| new.order + 1).max().unwrap_or(0);
        self.next_order = self.next_order.max(last);
        set.iter().map(|new| self.place_one(new)).collect()
    }

    fn place_one(&mut self, new: &New) -> String {
        if self.orders.contains_key(&new.order) {
            return "placed".to_owned();
        }
        if let Some((body, order, _)) = new.key.and_then(|key| self.live_key(key)) {
            return if *body == new.body() { format!("repeats #{order}") } else { "key reused".to_owned() };
        }
        let (_, lines) = new.body();
        if let Some(refusal) = self.refusal(new.buyer, &lines) {
            return refusal;
        }
        if let Some(key) = new.key {
            self.keys.insert(key, (new.body(), new.order, self.now));
        }
        let order = self.fresh(new.buyer, lines);
        self.orders.insert(new.order, order);
        "placed".to_owned()
    }

    pub(in super::super) fn live_key(&self, key: u8) -> Option<&(Body, usize, u64)> {
        self.keys.get(&key).filter(|(_, _, at)| self.now <= at + KEPT_MILLIS)
    }

    fn fresh(&self, buyer: usize, lines: Vec<(usize, i64)>) -> Order {
        let due: i64 = lines.iter().map(|(article, quantity)| ARTICLES[*article].price * quantity).sum();
        let hold = lines.iter().map(|(article, _)| ARTICLES[*article].hold_minutes).min().unwrap();
        let currency = ARTICLES[lines[0].0].currency;
        let (status, paid_at) = match due {
            0 => (OrderStatus::Paid, Some(self.now)),
            _ => (OrderStatus::AwaitingPayment, None),
        };
        let (hold_until, money, given) = (self.now + hold * 60_000, BTreeMap::new(), vec![]);
        Order { buyer, lines, due, currency, status, hold_until, paid_at, told_at: None, money, given }
    }

    /// The first reason that holds.
    fn refusal(&self, buyer: usize, lines: &[(usize, i64)]) -> Option<String> {
        let person = BUYERS[buyer].person;
        let wanted = || lines.iter().map(|(article, quantity)| (*article, &ARTICLES[*article], *quantity));
        if wanted().any(|(_, article, _)| article.currency != ARTICLES[lines[0].0].currency) {
            return Some("mixed currencies".to_owned());
        }
        let too_many = |(_, a, quantity): &(_, &super::super::catalogue::Article, i64)| {
            a.max_per_order.is_some_and(|max| *quantity > max)
        };
        if let Some((_, article, _)) = wanted().find(too_many) {
            return Some(format!("max_per_order of {}", article.sku));
        }
        if let Some(refusal) = self.may_not_buy(person, lines) {
            return Some(refusal);
        }
        let open = |n: usize| self.unpaid_of(person).filter(|o| o.lines.iter().any(|(a, _)| *a == n)).count();
        let too_open = wanted().find(|(n, article, _)| {
            article.open_orders.is_some_and(|max| i64::try_from(open(*n)).unwrap() >= max)
        });
        if let Some((_, article, _)) = too_open {
            return Some(format!("open_orders of {}", article.sku));
        }
        self.sold_out(lines)
    }

    /// The customer's own rules: of a new order and of one that is paid late.
    pub(super) fn may_not_buy(&self, person: usize, lines: &[(usize, i64)]) -> Option<String> {
        let is_new = !self.ever_paid(person) && self.unpaid_of(person).next().is_none();
        let for_new = lines.iter().find(|(article, _)| ARTICLES[*article].new_only && !is_new);
        if let Some((article, _)) = for_new {
            return Some(format!("{} is for the new", ARTICLES[*article].sku));
        }
        let over = lines.iter().find(|(article, quantity)| {
            ARTICLES[*article].per_customer.is_some_and(|max| self.units(person, *article) + quantity > max)
        });
        over.map(|(article, _)| format!("per_customer of {}", ARTICLES[*article].sku))
    }

    /// Claims are counted, so what others hold is not there.
    pub(super) fn sold_out(&self, lines: &[(usize, i64)]) -> Option<String> {
        let short = lines.iter().find(|(article, quantity)| {
            !ARTICLES[*article].backorders
                && !self.is_endless(*article)
                && self.unissued(*article) - self.claimed(*article) < *quantity
        });
        short.map(|(article, _)| format!("{} sold out", ARTICLES[*article].sku))
    }

    fn of(&self, person: usize) -> impl Iterator<Item = &Order> {
        self.orders.values().filter(move |order| BUYERS[order.buyer].person == person)
    }

    pub(in super::super) fn unpaid_of(&self, person: usize) -> impl Iterator<Item = &Order> {
        self.of(person).filter(|order| order.status == OrderStatus::AwaitingPayment)
    }

    pub(in super::super) fn ever_paid(&self, person: usize) -> bool {
        self.of(person).any(|order| order.paid_at.is_some())
    }

    /// Units of every order that is neither expired nor cancelled.
    pub(in super::super) fn units(&self, person: usize, article: usize) -> i64 {
        let counts = |order: &&Order| !matches!(order.status, OrderStatus::Expired | OrderStatus::Cancelled);
        self.of(person).filter(counts).map(|order| order.quantity(article)).sum()
    }
}
