//! `tessera-bench issue`: the issue step in sets, one order per transaction, and orders for many codes; on
//! PostgreSQL also the way shops issue today.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use serde_json::json;
use tessera_issuer::{Issue, IssueOutcome, Work};
use tessera_model::ids::OrderId;
use tessera_store::{SET_MAX, run_set};

use crate::shop::Shop;
use crate::way::{Report, Way};

pub(crate) use postgres::about;

mod postgres;
mod rival;
mod sqlite;

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
    /// Where SQLite's file is made; the system's folder for such files if not given.
    pub(crate) data: Option<PathBuf>,
    /// A PostgreSQL in which a database may be created.
    pub(crate) postgres: Option<String>,
    pub(crate) json: bool,
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> anyhow::Result<()> {
    let mut reports = vec![sqlite::measure(options).await?];
    match &options.postgres {
        Some(url) => reports.push(postgres::measure(options, url).await?),
        None => note(
            "PostgreSQL is left out: give --postgres URL, or have one found or started for this run: \
             tessera-servers -- tessera-bench issue",
        ),
    }
    print(options, &reports)
}

/// The ways of Tessera's own step, each with codes of its own to issue.
struct Ours {
    sets: Way,
    alone: Way,
    one: Way,
    many: Way,
}

impl Ours {
    async fn stock(shop: &Shop, options: &Options) -> anyhow::Result<Self> {
        note(&format!("{}: importing the codes", shop.store.engine()));
        let rounds = options.rounds;
        shop.product("sets", (options.orders + ALONE) * rounds).await?;
        shop.product("one", COMPARED * rounds).await?;
        shop.product("many", COMPARED * rounds * usize::try_from(MANY)?).await?;
        Ok(Self {
            sets: Way::new(format!("the issue step in sets of {SET_MAX}"), "sets_of_256"),
            alone: Way::new("the same, one order per transaction", "one_per_transaction"),
            one: Way::new("orders for 1 code, in sets", "for_1"),
            many: Way::new(format!("orders for {MANY} codes, in sets"), "for_388"),
        })
    }

    async fn round(&mut self, shop: &Shop, options: &Options) -> anyhow::Result<()> {
        issue(shop, shop.paid("sets", options.orders, 1).await?, SET_MAX, &mut self.sets).await?;
        issue(shop, shop.paid("sets", ALONE, 1).await?, 1, &mut self.alone).await?;
        issue(shop, shop.paid("one", COMPARED, 1).await?, SET_MAX, &mut self.one).await?;
        issue(shop, shop.paid("many", COMPARED, MANY).await?, SET_MAX, &mut self.many).await
    }
}

/// Issues orders in sets of `size` and adds the time to `way`.
async fn issue(shop: &Shop, orders: Vec<OrderId>, size: usize, way: &mut Way) -> anyhow::Result<()> {
    let step = Arc::new(Issue::new(shop.mint()));
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
pub(crate) fn note(what: &str) {
    eprintln!("{what} …");
}

#[expect(clippy::print_stdout, reason = "the result")]
fn print(options: &Options, reports: &[Report]) -> anyhow::Result<()> {
    if options.json {
        let document = json!({ "engines": reports.iter().map(Report::json).collect::<Vec<_>>() });
        println!("{}", serde_json::to_string_pretty(&document)?);
        return Ok(());
    }
    println!("issuing, orders of one code unless said otherwise");
    for report in reports {
        println!("\n{}", report.text());
    }
    Ok(())
}
