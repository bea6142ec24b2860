//! The shop compared with the reference, and what no reference is needed for: codes are given once and for ever.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use tessera_model::ids::BatchId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_model::text::CustomerId;
use tessera_store::Tx;

use super::catalogue::{ARTICLES, PERSONS, Sort, spelling};
use super::model::Model;
use super::shop::{Machine, code, id_of};

/// What was seen so far, that nothing later may contradict.
#[derive(Default)]
pub(super) struct Seen {
    /// Every code that an order was seen to have, with that order.
    codes: HashMap<String, usize>,
    /// Each issued order's spans: batch, first position, the one behind the last.
    spans: BTreeMap<usize, Vec<(BatchId, i64, i64)>>,
    /// Each order's status and version.
    orders: BTreeMap<usize, (OrderStatus, i64)>,
}

impl Machine {
    /// Compares everything that the reference says.
    pub(super) async fn compare(&mut self, model: &Model) {
        let mut tx = self.shop.store.snapshot().await.unwrap();
        self.compare_orders(&mut *tx, model).await;
        self.compare_shelves(&mut *tx, model).await;
        self.compare_customers(&mut *tx, model).await;
        let issued = self.compare_spans(&mut *tx, model).await;
        drop(tx);
        for number in issued {
            self.look_at_codes(number, model).await;
        }
    }

    async fn compare_orders(&mut self, tx: &mut dyn Tx, model: &Model) {
        let ids: Vec<_> = (0..model.next_order).map(id_of).collect();
        let found: BTreeMap<_, _> =
            tx.orders_read(&ids).await.unwrap().into_iter().map(|o| (o.id, o)).collect();
        let mut money: BTreeMap<_, BTreeMap<MoneyState, i64>> = BTreeMap::new();
        for portion in tx.money_of(&ids).await.unwrap() {
            *money.entry(portion.order).or_default().entry(portion.state).or_default() += portion.minor;
        }
        for (number, id) in ids.iter().enumerate() {
            let expected = model.orders.get(&number).map(|order| (order.status, order.due));
            let order = found.get(id);
            assert_eq!(order.map(|o| (o.state.status(), o.amount.minor)), expected, "order #{number}");
            let Some(order) = order else { continue };
            let of = money.remove(id).unwrap_or_default();
            assert_eq!(of, model.orders[&number].money, "money of order #{number}");
            self.goes_forward(number, order.state.status(), order.version);
        }
        assert!(money.is_empty(), "money of orders that are not there");
    }

    /// No order goes back, and every change raises its version.
    fn goes_forward(&mut self, number: usize, status: OrderStatus, version: i64) {
        let Some((before, known)) = self.seen.orders.insert(number, (status, version)) else { return };
        assert!(
            before == status || may_follow(before, status),
            "order #{number} went from {before} to {status}"
        );
        assert!(version >= known && (before == status || version > known), "version of order #{number}");
    }

    async fn compare_shelves(&self, tx: &mut dyn Tx, model: &Model) {
        let shelves = tx.stock_figures(None).await.unwrap();
        for (article, known) in ARTICLES.iter().enumerate() {
            let shelf = shelves.iter().find(|shelf| shelf.sku.as_str() == known.sku).unwrap();
            let seen = (shelf.stock.unissued, shelf.stock.claimed, shelf.stock.available());
            let (unissued, claimed) = (model.unissued(article), model.claimed(article));
            assert_eq!(
                seen,
                (unissued, claimed, unissued - claimed),
                "unissued, claimed, available {}",
                known.sku
            );
        }
    }

    async fn compare_customers(&self, tx: &mut dyn Tx, model: &Model) {
        let customers: Vec<_> =
            (0..PERSONS).map(|person| CustomerId::parse(spelling(person)).unwrap()).collect();
        let standings = tx.customers_standing(&customers, &self.products).await.unwrap();
        let standings: BTreeMap<_, _> = standings.into_iter().collect();
        for (person, customer) in customers.iter().enumerate() {
            let standing = standings.get(customer.folded()).cloned().unwrap_or_default();
            let open = i64::try_from(model.unpaid_of(person).count()).unwrap();
            let who = spelling(person);
            assert_eq!(
                (standing.open, standing.ever_paid),
                (open, model.ever_paid(person)),
                "standing of {who}"
            );
            for (article, product) in self.products.iter().enumerate() {
                let units = standing.units.get(product).copied().unwrap_or(0);
                assert_eq!(
                    units,
                    model.units(person, article),
                    "units of {} of {who}",
                    ARTICLES[article].sku
                );
            }
        }
    }

    /// An order that has codes keeps them; returns those that got them since the last look.
    async fn compare_spans(&mut self, tx: &mut dyn Tx, model: &Model) -> Vec<usize> {
        let ids: Vec<_> = (0..model.next_order).map(id_of).collect();
        let numbers: BTreeMap<_, _> = ids.iter().zip(0..).map(|(id, number)| (*id, number)).collect();
        let mut spans: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for span in tx.spans_of(&ids).await.unwrap() {
            let place = (span.batch.id, span.start, span.upto);
            spans.entry(numbers[&span.owner.order]).or_default().push(place);
        }
        let mut news = vec![];
        for (number, order) in &model.orders {
            let of = spans.remove(number).unwrap_or_default();
            let count: i64 = of.iter().map(|(_, start, upto)| upto - start).sum();
            let wanted: i64 = order.given.iter().map(|(_, codes)| i64::try_from(codes.len()).unwrap()).sum();
            assert_eq!(count, wanted, "codes of order #{number}");
            match self.seen.spans.get(number) {
                Some(known) => assert_eq!(*known, of, "codes of order #{number} changed"),
                None if of.is_empty() => {}
                None => {
                    self.seen.spans.insert(*number, of);
                    news.push(*number);
                }
            }
        }
        assert!(spans.is_empty(), "codes of orders that are not there");
        news
    }

    /// Opens the codes of an order: none is another's, and they are those whose turn it was.
    async fn look_at_codes(&mut self, number: usize, model: &Model) {
        let codes = self.shop.codes_of(id_of(number)).await;
        let mut rest = &codes[..];
        for (article, given) in &model.orders[&number].given {
            let (line, others) = rest.split_at(given.len());
            rest = others;
            let article_of = &ARTICLES[*article];
            if let Sort::Raffle { shares, .. } = article_of.sort {
                // Every round has the same numbers: reconcile knows whose each is.
                let all = 1..=shares;
                assert!(
                    line.iter().all(|text| all.contains(&text.parse().unwrap())),
                    "numbers of order #{number}"
                );
                continue;
            }
            for text in line {
                let other = self.seen.codes.insert(text.clone(), number);
                assert_eq!(other, None, "{text} was given again, to order #{number}");
            }
            if article_of.sort != Sort::Imported {
                assert!(line.iter().all(|text| text.starts_with("SPRING-")), "codes of order #{number}");
            } else if ARTICLES[*article].random {
                let sold = batches_of(&model.shelves[*article].batches, *article, given);
                assert!(
                    line.iter().all(|text| sold.contains(text)),
                    "codes of order #{number} of other batches"
                );
            } else {
                let expected: Vec<String> = given.clone().map(|n| code(*article, n)).collect();
                assert_eq!(line, expected, "codes of order #{number}, first in, first out");
            }
        }
    }

    /// What is told of the whole shop.
    pub(super) async fn reconcile(&self, model: &Model) {
        self.shop.reconcile().await;
        assert_eq!(self.shop.notices().await.len(), model.contradictions, "notices kept");
        assert_eq!(self.shop.letters(None).await.len(), model.letters.len(), "dead letters");
        let unmatched = "SELECT coalesce(sum(amount), 0) FROM money_entry WHERE state = 'unmatched'";
        assert_eq!(self.shop.number(unmatched).await, model.unmatched, "unmatched money");
    }
}

/// Forward, or back to life by a late payment or an operator.
fn may_follow(before: OrderStatus, after: OrderStatus) -> bool {
    use OrderStatus as S;
    match before {
        S::AwaitingPayment => true,
        S::Paid => matches!(after, S::Backordered | S::Issued | S::RefundDue | S::Refunded),
        S::Backordered => matches!(after, S::Issued | S::RefundDue | S::Refunded),
        // In one transition of the script an order may be paid late, or accepted, and no more than that.
        S::Expired | S::Cancelled => after == S::Paid,
        S::Issued => matches!(after, S::RefundDue | S::Refunded),
        S::RefundDue => after == S::Refunded,
        S::Refunded => false,
    }
}

/// Every code of the batches that codes were taken of.
fn batches_of(sizes: &[usize], article: usize, given: &Range<usize>) -> BTreeSet<String> {
    let (mut from, mut codes) = (0, BTreeSet::new());
    for size in sizes {
        if from < given.end && from + size > given.start {
            codes.extend((from..from + size).map(|n| code(article, n)));
        }
        from += size;
    }
    codes
}
