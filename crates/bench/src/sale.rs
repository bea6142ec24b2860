//! `tessera-bench sale`: buyers against a serving shop, each ordering, paying and reading its codes.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::buyer::Buyer;
use crate::own::{Engine, Own};
use crate::waits::Waits;

/// How to measure.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) shop: Where,
    pub(crate) sku: String,
    /// How many buy at once: a measurement each.
    pub(crate) buyers: Vec<usize>,
    pub(crate) seconds: u64,
    pub(crate) json: bool,
}

/// Which shop they buy from.
#[derive(Clone)]
pub(crate) enum Where {
    /// One that serves here.
    At(SocketAddr),
    /// One of its own with this many codes, served by the program beside this one.
    Own(Engine, usize),
}

/// What one buyer saw.
#[derive(Default)]
struct Seen {
    codes: Vec<String>,
    waits: Vec<Duration>,
}

/// What one crowd saw.
struct Crowd {
    buyers: usize,
    took: Duration,
    /// From asking to pay to the codes.
    waits: Waits,
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> anyhow::Result<()> {
    let (engine, codes) = match &options.shop {
        Where::At(at) => return print(options, "the shop", &crowds(options, *at).await?),
        Where::Own(engine, codes) => (engine, *codes),
    };
    let own = Own::start(engine, &options.sku, codes).await;
    let crowds = crowds(options, own.at()).await;
    // Closed whatever came of it; ends with a reconcile.
    let name = own.close().await;
    print(options, &name, &crowds?)
}

async fn crowds(options: &Options, at: SocketAddr) -> anyhow::Result<Vec<Crowd>> {
    let mut codes = HashSet::new();
    let mut crowds = vec![];
    for buyers in &options.buyers {
        crowds.push(crowd(options, at, *buyers, &mut codes).await?);
    }
    Ok(crowds)
}

/// One crowd; fails when it is sold a code that is among those sold before.
async fn crowd(
    options: &Options,
    at: SocketAddr,
    buyers: usize,
    sold: &mut HashSet<String>,
) -> anyhow::Result<Crowd> {
    let began = Instant::now();
    let end = began + Duration::from_secs(options.seconds);
    let tasks: Vec<_> =
        (0..buyers).map(|n| tokio::spawn(buy(at, options.sku.clone(), (buyers, n), end))).collect();
    let mut waits = vec![];
    for buyer in tasks {
        let seen = buyer.await??;
        waits.extend(seen.waits);
        ensure!(seen.codes.into_iter().all(|code| sold.insert(code)), "a code was seen twice");
    }
    let waits = Waits::new(waits).context("nobody bought anything")?;
    Ok(Crowd { buyers, took: began.elapsed(), waits })
}

/// Buys until `end`, each time as a new customer.
async fn buy(at: SocketAddr, sku: String, number: (usize, usize), end: Instant) -> anyhow::Result<Seen> {
    let mut buyer = Buyer::open(at, sku).await?;
    let (mut seen, mut turn) = (Seen::default(), 0_u64);
    while Instant::now() < end {
        turn += 1;
        let customer = format!("bench-{}-{}-{}-{turn}", std::process::id(), number.0, number.1);
        let bought = buyer.buy(&customer).await?;
        seen.waits.push(bought.waited);
        seen.codes.push(bought.code);
    }
    Ok(seen)
}

impl Crowd {
    fn rate(&self) -> f64 {
        self.waits.rate(self.took)
    }

    fn json(&self) -> Value {
        json!({
            "buyers": self.buyers, "sales": self.waits.count(), "sales_per_second": self.rate(),
            "pay_to_codes_p50_ms": self.waits.millis(50), "pay_to_codes_p99_ms": self.waits.millis(99),
        })
    }

    fn line(&self) -> String {
        let (p50, p99, longest) = (self.waits.millis(50), self.waits.millis(99), self.waits.millis(100));
        format!("{:>8} {:>10.0} {p50:>10.1} {p99:>10.1} {longest:>10.1}", self.buyers, self.rate())
    }
}

#[expect(clippy::print_stdout, reason = "the result")]
fn print(options: &Options, name: &str, crowds: &[Crowd]) -> anyhow::Result<()> {
    if options.json {
        let crowds: Vec<Value> = crowds.iter().map(Crowd::json).collect();
        println!("{}", serde_json::to_string_pretty(&json!({ "shop": name, "crowds": crowds }))?);
        return Ok(());
    }
    println!("sales by {name}, each code once; from paying to codes in ms");
    println!("{:>8} {:>10} {:>10} {:>10} {:>10}", "buyers", "sales/s", "p50", "p99", "longest");
    for crowd in crowds {
        println!("{}", crowd.line());
    }
    Ok(())
}
