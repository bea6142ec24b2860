//! A sale during which something is killed at random every few seconds, and the proof that nothing came of it.
//!
//! Buyers place, pay, cancel and walk away, and repeat each request under its key until it is answered. At the end every
//! paid order has its codes, no code is on two orders, no more is sold than was there, and `tessera reconcile` balances.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it does, and fails"
)]

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

mod buyer;
mod part;

use buyer::{Bought, Buyer, End};
use part::Part;

use crate::Engine;
use crate::program::{Client, Program, Receipt, answered};

/// What sells for as long as the sale lasts.
const CARD: &str = "card";
/// What is sold out on the way.
const SCARCE: &str = "scarce";
const SCARCE_CODES: i64 = 200;
/// Codes of `card` for each second: more than this machine sells.
const CODES_PER_SECOND: u64 = 1_500;
/// How long an unpaid order holds its codes, in seconds.
const HOLD_SECONDS: u64 = 10;
/// The longest it may take until every paid order has its codes once the killing is over.
const SETTLED_WITHIN: Duration = Duration::from_mins(1);

/// How many look through the orders at once.
const LOOKING: usize = 16;

/// How a sale goes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What the shop runs on; servers are its own.
    pub engine: Engine,
    /// For how long something is killed.
    pub lasts: Duration,
    /// How often.
    pub every: Duration,
    /// How many buy at once.
    pub buyers: u64,
    /// What is killed and what buyers do follows from it, but for the moments.
    pub seed: u64,
}

/// What came of it; that everything is right has been shown by then.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How often each part was killed.
    pub kills: BTreeMap<&'static str, u32>,
    /// Orders that were placed.
    pub placed: usize,
    /// Those whose payment was acknowledged; all of them issued.
    pub issued: usize,
    /// Codes on them.
    pub codes: usize,
    /// Orders that were cancelled or expired.
    pub released: usize,
    /// The longest that a buyer waited for the answer to one request, repetitions included.
    pub longest_wait: Duration,
    /// From the last part's return until every paid order had its codes.
    pub settled_after: Duration,
}

/// Holds the sale.
///
/// # Panics
/// An order was lost, a code doubled, more sold than was there, or the books do not balance.
pub async fn run(plan: &Plan) -> Report {
    let (program, parts) = part::set_up(plan.engine).await;
    let codes = stock(&program, plan).await;
    for part in &parts {
        let mut part = part.lock().await;
        if matches!(*part, Part::Process { .. }) {
            part.start(&program).await;
        }
    }
    let over = watch::Sender::new(false);
    let mut buyers = JoinSet::new();
    for number in 0..plan.buyers {
        let rng = StdRng::seed_from_u64(plan.seed ^ (number + 1));
        buyers.spawn(Buyer::new(program.client(), number, rng, over.subscribe()).buy_until_over());
    }
    let program = Arc::new(program);
    let mut report = Report { kills: kill(plan, &program, &parts).await, ..Report::default() };
    over.send_replace(true);
    let bought: Vec<Bought> = buyers.join_all().await.into_iter().flatten().collect();
    let settled = Instant::now();
    prove(&program, &bought, codes, &mut report).await;
    report.settled_after = settled.elapsed();
    assert!(report.settled_after < SETTLED_WITHIN, "settled only after {:?}", report.settled_after);
    part::close(program, parts).await;
    report
}

/// Returns how many codes of each product there are.
async fn stock(program: &Program, plan: &Plan) -> BTreeMap<&'static str, i64> {
    let price = json!({"minor": 1_990, "currency": "CNY"});
    let product = |sku: &str| json!({"sku": sku, "name": sku, "kind": "codes", "price": price, "hold_seconds": HOLD_SECONDS});
    program.products(&json!([product(CARD), product(SCARCE)])).await;
    let cards = i64::try_from(plan.lasts.as_secs() * CODES_PER_SECOND).unwrap();
    let codes = BTreeMap::from([(CARD, cards), (SCARCE, SCARCE_CODES)]);
    for (sku, count) in &codes {
        program.stock(sku, usize::try_from(*count).unwrap()).await;
    }
    codes
}

/// Kills a part that is up every so often and brings it back; returns once all are back.
async fn kill(
    plan: &Plan,
    program: &Arc<Program>,
    parts: &[Arc<Mutex<Part>>],
) -> BTreeMap<&'static str, u32> {
    let (mut rng, begun) = (StdRng::seed_from_u64(plan.seed), Instant::now());
    let (mut kills, mut returning) = (BTreeMap::new(), JoinSet::new());
    while begun.elapsed() < plan.lasts {
        // The moment of the kill is what is random here; there is nothing to wait for.
        tokio::time::sleep(plan.every).await;
        let up: Vec<_> = parts.iter().filter_map(|part| Arc::clone(part).try_lock_owned().ok()).collect();
        let Some(mut part) = up.into_iter().nth(rng.random_range(0..parts.len())) else { continue };
        *kills.entry(part.name()).or_default() += 1;
        eprintln!("{:>4} s: {} is killed", begun.elapsed().as_secs(), part.name());
        let program = Arc::clone(program);
        returning.spawn(async move {
            part.kill().await;
            part.start(&program).await;
        });
    }
    returning.join_all().await;
    kills
}

/// Every order is what its buyer was told, every code on one order, and no product oversold.
async fn prove(
    program: &Program,
    bought: &[Bought],
    codes: BTreeMap<&'static str, i64>,
    report: &mut Report,
) {
    let (mut seen, mut sold) = (HashSet::new(), BTreeMap::new());
    for (one, (status, given)) in bought.iter().zip(looked_at(program, bought).await) {
        report.placed += 1;
        report.longest_wait = report.longest_wait.max(one.waited);
        match one.end {
            End::Paid => {
                assert_eq!(status, "issued", "a paid order was lost: {}", one.receipt.id);
                assert_eq!(i64::try_from(given.len()), Ok(one.quantity), "{}", one.receipt.id);
                report.issued += 1;
            }
            End::Cancelled | End::Expired | End::Left => {
                assert!(matches!(status.as_str(), "cancelled" | "expired"), "{status}: {}", one.receipt.id);
                assert_eq!(given.len(), 0, "{}", one.receipt.id);
                report.released += 1;
            }
        }
        *sold.entry(one.sku).or_insert(0) += i64::try_from(given.len()).unwrap();
        report.codes += given.len();
        assert!(given.into_iter().all(|code| seen.insert(code)), "a code is on two orders");
    }
    for (sku, sold) in sold {
        assert!(sold <= codes[sku], "{sku} is oversold: {sold} of {}", codes[sku]);
    }
    let stored = program.number("SELECT count(*) FROM orders").await;
    assert_eq!(usize::try_from(stored), Ok(bought.len()), "one order for each key");
    let settled =
        program.number("SELECT coalesce(sum(amount), 0) FROM money_entry WHERE state = 'settled'").await;
    assert_eq!(settled, i64::try_from(report.codes).unwrap() * 1_990, "each order was charged once");
}

/// The state and codes of each order, once it is final.
async fn looked_at(program: &Program, bought: &[Bought]) -> Vec<(String, Vec<String>)> {
    let share = bought.len().div_ceil(LOOKING).max(1);
    let mut looking = vec![];
    for share in bought.chunks(share) {
        let receipts = share.iter().map(|one| one.receipt.clone()).collect();
        looking.push(tokio::spawn(look(program.client(), receipts)));
    }
    let mut seen = vec![];
    for looking in looking {
        seen.extend(looking.await.unwrap());
    }
    seen
}

async fn look(client: Client, receipts: Vec<Receipt>) -> Vec<(String, Vec<String>)> {
    let mut seen = vec![];
    for receipt in receipts {
        let order = answered(|| client.get_waiting(&receipt, 30)).await.with_status(200);
        seen.push((order.order_status().to_owned(), order.codes()));
    }
    seen
}
