//! Ten thousand payments of every kind over five thousand orders, told up to five times in any order, while orders expire
//! and operators accept, refund and confirm: every coin ends in a known place.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_orders::operators::{Accept, Refund, Wish};
use tessera_orders::pay::{Incoming, PayLate, PayOutcome};
use tessera_orders::place::PlaceOutcome;
use tessera_orders::refunds::{RefundOutcome, RefundTold};
use tessera_store::run_set;
use tessera_testbed::Shop;

const SET: usize = 256;

const ORDERS: usize = 5_000;

const PAYMENTS: usize = 10_000;

/// The most times that a payment is told.
const TOLD_MAX: usize = 5;

/// Sets of payments between two rounds of expiry and of operators.
const ROUND: usize = 10;

/// What a notice says: reference, order, minor units, currency.
type Said = (String, String, i64, &'static str);

struct Storm {
    shop: Shop,
    rng: StdRng,
    orders: Vec<OrderId>,
    /// What counts of each reference: what it said first.
    first: HashMap<String, i64>,
    refunds: usize,
}

impl Storm {
    async fn open() -> Self {
        let shop = Shop::open().await;
        // Less of one than will be ordered: late payments and acceptances find some of it gone.
        for (sku, minutes, count) in [("card", 600, ORDERS / 2), ("quick", 2, ORDERS * 2 / 5)] {
            shop.product(sku, |rules| rules.hold = Duration::from_mins(minutes)).await;
            shop.stock(sku, count).await;
        }
        let mut storm =
            Self { shop, rng: StdRng::seed_from_u64(5), orders: vec![], first: HashMap::new(), refunds: 0 };
        storm.place(ORDERS / 2, "card").await;
        // The rest comes once some of these expired, and takes what they held.
        storm.place(ORDERS / 4, "quick").await;
        storm
    }

    async fn place(&mut self, count: usize, sku: &str) {
        let from = self.orders.len();
        let new = |n| self.shop.new_order(&format!("buyer {n}"), &[(sku, 1)]);
        let new: Vec<_> = (from..from + count).map(new).collect();
        for set in new.chunks(SET) {
            let placed = self.shop.place_set(set.to_vec()).await;
            assert!(placed.iter().all(|outcome| matches!(outcome, Ok(PlaceOutcome::Placed(_)))));
        }
        self.orders.extend(new.iter().map(|new| new.id));
    }

    /// Every kind: exact, short, over, of a foreign currency, of nobody's order; of one order none, one or several.
    fn payment(&mut self, number: usize) -> Said {
        let order = match self.rng.random_range(0..20) {
            0 => "nobody's".to_owned(),
            _ => self.orders.choose(&mut self.rng).unwrap().to_string(),
        };
        let minor = match self.rng.random_range(0..10) {
            0..=5 => 1_000,
            6..=8 => self.rng.random_range(1..1_000),
            _ => self.rng.random_range(1_001..3_000),
        };
        let currency = if self.rng.random_range(0..20) == 0 { "EUR" } else { "CNY" };
        (format!("p{number}"), order, minor, currency)
    }

    /// Each up to five times, now and then with another amount, all in any order.
    fn told(&mut self, payments: Vec<Said>) -> Vec<Said> {
        let mut told = vec![];
        for payment in payments {
            for _ in 0..self.rng.random_range(1..=TOLD_MAX) {
                let mut again = payment.clone();
                again.2 += i64::from(self.rng.random_range(0..50) == 0);
                told.push(again);
            }
        }
        told.shuffle(&mut self.rng);
        told
    }

    async fn pay(&mut self, set: &[Said]) {
        let notice = |(reference, order, minor, currency): &Said| {
            self.shop.notice("acme", reference, order, *minor, currency)
        };
        let notices: Vec<Incoming> = set.iter().map(notice).collect();
        for (reference, _, minor, _) in set {
            self.first.entry(reference.clone()).or_insert(*minor);
        }
        let outcomes = self.shop.pay_set(notices.clone()).await;
        let is_late = |outcome: &_| matches!(outcome, Ok(PayOutcome::Late));
        let late = notices.into_iter().zip(&outcomes).filter(|(_, outcome)| is_late(outcome));
        let late: Vec<Incoming> = late.map(|(notice, _)| notice).collect();
        let again = run_set(Arc::clone(&self.shop.store), Arc::new(PayLate), late).await;
        assert!(outcomes.iter().chain(&again).all(Result::is_ok));
    }

    /// Some of the orders in a state, as wishes.
    async fn some(&mut self, status: OrderStatus) -> Vec<Wish> {
        let statuses = self.shop.statuses(&self.orders).await;
        let of = self.orders.iter().zip(statuses).filter(|(_, now)| *now == status);
        let of: Vec<OrderId> = of.map(|(order, _)| *order).collect();
        of.sample(&mut self.rng, 20).map(|order| self.shop.wish(*order)).collect()
    }

    /// What operators do meanwhile, and providers who pay back.
    async fn operators(&mut self) {
        for status in [OrderStatus::AwaitingPayment, OrderStatus::Expired, OrderStatus::Cancelled] {
            let wishes = self.some(status).await;
            let outcomes = run_set(Arc::clone(&self.shop.store), Arc::new(Accept), wishes).await;
            assert!(outcomes.iter().all(Result::is_ok));
        }
        let wishes = self.some(OrderStatus::Paid).await;
        let outcomes = run_set(Arc::clone(&self.shop.store), Arc::new(Refund), wishes).await;
        assert!(outcomes.iter().all(Result::is_ok));
        let mut told = vec![];
        for state in [MoneyState::RefundDue, MoneyState::Unmatched, MoneyState::Settled] {
            let payments = self.shop.payments(Some(state)).await;
            for stored in payments.sample(&mut self.rng, 20) {
                self.refunds += 1;
                let (payment, name) = (&stored.payment, format!("r{}", self.refunds));
                let minor = 1 + payment.amount.minor / 2;
                told.push(match self.refunds % 2 {
                    0 => self.shop.confirmed(payment.id, &name, None),
                    _ => RefundTold::Notice(self.shop.refund_notice(
                        payment.reference.as_str(),
                        &name,
                        minor,
                        payment.amount.currency.code(),
                    )),
                });
            }
        }
        told.extend(told.clone());
        told.shuffle(&mut self.rng);
        let outcomes = self.shop.refund_set(told).await;
        assert!(outcomes.iter().any(|o| matches!(o, Ok(RefundOutcome::Repeated(_)))));
        assert!(outcomes.iter().all(Result::is_ok));
    }

    /// The balances, and that what is in all states is what came.
    async fn proven(&self) {
        self.shop.reconcile().await;
        let came: i64 = self.first.values().sum();
        let states = MoneyState::ALL
            .map(|s| format!("coalesce(sum(amount) FILTER (WHERE state = '{}'), 0)", s.as_str()));
        let sum = format!("SELECT {} FROM money_entry", states.join(" + "));
        assert_eq!(self.shop.number(&format!("SELECT CAST(({sum}) AS bigint)")).await, came);
        let arrived = "SELECT CAST((SELECT sum(minor) FROM payment) AS bigint)";
        assert_eq!(self.shop.number(arrived).await, came);
    }
}

#[tokio::test]
async fn ten_thousand_payments_of_every_kind_end_in_a_known_place() {
    let mut storm = Storm::open().await;
    let early = (0..PAYMENTS / 2).map(|n| storm.payment(n)).collect();
    let mut told = storm.told(early);
    for half in 0..2 {
        for (number, set) in told.chunks(SET).enumerate() {
            storm.pay(set).await;
            if number % ROUND == ROUND - 1 {
                storm.operators().await;
                storm.shop.clock.advance(Duration::from_secs(40));
                storm.shop.expire_due().await;
            }
        }
        storm.proven().await;
        if half == 0 {
            storm.place(ORDERS / 4, "quick").await;
            let late = (PAYMENTS / 2..PAYMENTS).map(|n| storm.payment(n)).collect();
            told = storm.told(late);
        }
    }
    assert_eq!((storm.orders.len(), storm.first.len()), (ORDERS, PAYMENTS));
    for state in MoneyState::ALL {
        let any = format!("SELECT count(*) FROM money_entry WHERE state = '{}'", state.as_str());
        assert!(storm.shop.number(&any).await > 100, "hardly any is {}", state.as_str());
    }
    storm.shop.leftover_is_fine();
    storm.shop.close().await;
}
