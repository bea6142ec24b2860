//! A buyer of the sale: asks until it is answered, and remembers what it was told.

use std::time::{Duration, Instant};

use rand::RngExt;
use rand::rngs::StdRng;
use tokio::sync::watch;

use super::{CARD, SCARCE};
use crate::program::{Answer, Asked, Client, Receipt, answered};

/// What a buyer waits before it looks at a sold-out shop again.
const SOLD_OUT_FOR: Duration = Duration::from_millis(50);

/// How an order ended, as its buyer was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The payment was acknowledged.
    Paid,
    Cancelled,
    /// It was too late to pay.
    Expired,
    /// The buyer walked away.
    Left,
}

/// One order.
#[derive(Debug)]
pub(super) struct Bought {
    pub(super) receipt: Receipt,
    pub(super) sku: &'static str,
    pub(super) quantity: i64,
    pub(super) end: End,
    /// The longest wait for the answer to one of its requests.
    pub(super) waited: Duration,
}

pub(super) struct Buyer {
    client: Client,
    number: u64,
    rng: StdRng,
    over: watch::Receiver<bool>,
}

impl Buyer {
    pub(super) fn new(client: Client, number: u64, rng: StdRng, over: watch::Receiver<bool>) -> Self {
        Self { client, number, rng, over }
    }

    pub(super) async fn buy_until_over(mut self) -> Vec<Bought> {
        let (mut bought, mut nth) = (vec![], 0_u32);
        while !*self.over.borrow() {
            nth += 1;
            bought.extend(self.buy(&format!("buyer-{:03}-{nth:06}", self.number)).await);
        }
        bought
    }

    /// One order, from the request to its end; none if it was refused.
    async fn buy(&mut self, key: &str) -> Option<Bought> {
        let sku = if self.rng.random_bool(0.2) { SCARCE } else { CARD };
        let quantity = self.rng.random_range(1..=3);
        let (client, lines, customer) =
            (&self.client, [(sku, quantity)], format!("customer-{}", self.number));
        let (placed, placing) = timed(|| client.place_keyed(key, &customer, &lines)).await;
        if placed.status == 409 {
            assert!(matches!(placed.problem(), "sold-out" | "limit-reached"), "{}", placed.text);
            tokio::time::sleep(SOLD_OUT_FOR).await;
            return None;
        }
        assert!(matches!(placed.status, 200 | 201), "{}", placed.text);
        let receipt = placed.receipt();
        let (end, ending) = match self.rng.random_range(0..100) {
            0..5 => (End::Left, Duration::ZERO),
            5..15 => cancelled(client, &receipt).await,
            n => paid(client, &receipt, n % 2 == 0).await,
        };
        Some(Bought { receipt, sku, quantity, end, waited: placing.max(ending) })
    }
}

async fn cancelled(client: &Client, receipt: &Receipt) -> (End, Duration) {
    let (answer, waited) = timed(|| client.cancel(receipt)).await;
    match answer.status {
        200 => (End::Cancelled, waited),
        _ => (refused(&answer, "order-not-cancellable"), waited),
    }
}

async fn paid(client: &Client, receipt: &Receipt, waits: bool) -> (End, Duration) {
    let (answer, waited) = match waits {
        true => timed(|| client.pay_waiting(receipt, 2)).await,
        false => timed(|| client.pay(receipt)).await,
    };
    match answer.status {
        200 | 202 => (End::Paid, waited),
        _ => (refused(&answer, "order-not-payable"), waited),
    }
}

fn refused(answer: &Answer, problem: &str) -> End {
    assert_eq!((answer.status, answer.problem()), (409, problem), "{}", answer.text);
    End::Expired
}

/// The answer, and how long it was asked for.
async fn timed<A: Future<Output = Asked>>(ask: impl Fn() -> A) -> (Answer, Duration) {
    let begun = Instant::now();
    (answered(ask).await, begun.elapsed())
}
