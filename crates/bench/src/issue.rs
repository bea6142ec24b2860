//! `tessera-bench issue`: the issue step in sets, one order per transaction, and orders for many codes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::json;
use tessera_issuer::{Issue, IssueOutcome, Work};
use tessera_model::ids::OrderId;
use tessera_store::{SET_MAX, run_set};

use crate::shop::Shop;

/// Orders issued one per transaction in a round: enough to measure, few enough to wait for.
const ALONE: usize = 512;

/// Orders of a round that compare quantities.
const COMPARED: usize = 512;

/// The quantity of a large order.
const MANY: i64 = 388;

/// How to measure.
pub(crate) struct Options {
    pub(crate) orders: usize,
    pub(crate) rounds: usize,
    pub(crate) data: Option<PathBuf>,
    pub(crate) json: bool,
}

/// One way of issuing: how many orders took how long, over all rounds.
#[derive(Default)]
struct Way {
    orders: u32,
    took: Duration,
}

impl Way {
    fn add(&mut self, orders: usize, took: Duration) {
        self.orders += u32::try_from(orders).unwrap_or(u32::MAX);
        self.took += took;
    }

    fn per_second(&self) -> f64 {
        f64::from(self.orders) / self.took.as_secs_f64()
    }
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> anyhow::Result<()> {
    let folder = match &options.data {
        Some(data) => tempfile::tempdir_in(data)?,
        None => tempfile::tempdir()?,
    };
    let shop = Shop::open(folder.path()).await?;
    let rounds = options.rounds;
    eprintln_step("importing the codes");
    shop.product("sets", (options.orders + ALONE) * rounds).await?;
    shop.product("one", COMPARED * rounds).await?;
    shop.product("many", COMPARED * rounds * usize::try_from(MANY)?).await?;

    let [mut sets, mut alone, mut one, mut many]: [Way; 4] = Default::default();
    for round in 1..=rounds {
        eprintln_step(&format!("round {round} of {rounds}"));
        issue(&shop, shop.paid("sets", options.orders, 1).await?, SET_MAX, &mut sets).await?;
        issue(&shop, shop.paid("sets", ALONE, 1).await?, 1, &mut alone).await?;
        issue(&shop, shop.paid("one", COMPARED, 1).await?, SET_MAX, &mut one).await?;
        issue(&shop, shop.paid("many", COMPARED, MANY).await?, SET_MAX, &mut many).await?;
    }
    shop.reconcile().await?;
    print(options, [&sets, &alone, &one, &many], &shop.store.engine())
}

/// Issues orders in sets of `size` and adds the time to `way`.
async fn issue(shop: &Shop, orders: Vec<OrderId>, size: usize, way: &mut Way) -> anyhow::Result<()> {
    let step = Arc::new(Issue);
    let began = Instant::now();
    for set in orders.chunks(size) {
        let works = set.iter().map(|id| Work::Order(*id)).collect();
        for result in run_set(Arc::clone(&shop.store), Arc::clone(&step), works).await {
            if result?.outcome != IssueOutcome::Issued {
                bail!("an order was not issued");
            }
        }
    }
    way.add(orders.len(), began.elapsed());
    Ok(())
}

#[expect(clippy::print_stderr, reason = "progress, for whoever waits")]
fn eprintln_step(what: &str) {
    eprintln!("{what} …");
}

#[expect(clippy::print_stdout, reason = "the result")]
fn print(options: &Options, [sets, alone, one, many]: [&Way; 4], engine: &str) -> anyhow::Result<()> {
    let ratio = sets.per_second() / alone.per_second();
    let cost = one.per_second() / many.per_second();
    if options.json {
        let document = json!({
            "engine": engine,
            "sets_of_256_per_second": sets.per_second(),
            "one_per_transaction_per_second": alone.per_second(),
            "ratio": ratio,
            "cost_of_388_over_1": cost,
        });
        println!("{}", serde_json::to_string_pretty(&document)?);
        return Ok(());
    }
    println!("issuing on {engine}, orders of one code unless said otherwise");
    println!("  sets of {SET_MAX:<22} {:>10.0} orders/s", sets.per_second());
    println!("  one order per transaction   {:>10.0} orders/s", alone.per_second());
    println!("  ratio                       {ratio:>10.1}");
    println!("  an order for {MANY} over one for 1, in sets: {cost:.2} times the time");
    Ok(())
}
