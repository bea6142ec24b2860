//! `tessera-bench sale`: buyers against a serving shop, each ordering, paying and reading its codes.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use connection::Connection;
use own::Own;

mod connection;
mod own;

pub(crate) use own::Engine;

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
    /// From asking to pay to the codes, shortest first; not empty.
    waits: Vec<Duration>,
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
    ensure!(!waits.is_empty(), "nobody bought anything");
    waits.sort_unstable();
    Ok(Crowd { buyers, took: began.elapsed(), waits })
}

/// Buys until `end`, each time as a new customer.
async fn buy(at: SocketAddr, sku: String, buyer: (usize, usize), end: Instant) -> anyhow::Result<Seen> {
    let mut connection = Connection::open(at).await?;
    let (mut seen, mut turn) = (Seen::default(), 0_u64);
    while Instant::now() < end {
        turn += 1;
        let customer = format!("bench-{}-{}-{}-{turn}", std::process::id(), buyer.0, buyer.1);
        let order = json!({ "customer": { "id": customer }, "lines": [{ "sku": sku, "quantity": 1 }] });
        let (status, placed) = connection.post("/v1/orders", "", &order).await?;
        if status != 201 {
            bail!("an order was answered {status}: {placed}");
        }
        let id = placed["id"].as_str().context("an id")?;
        let token = placed["token"].as_str().context("a token")?;
        let headers = format!("authorization: Bearer {token}\r\nprefer: wait=30\r\n");
        let asked = Instant::now();
        let path = format!("/v1/orders/{id}/pay");
        let (status, paid) = connection.post(&path, &headers, &json!({ "provider": "test" })).await?;
        let code = paid["lines"][0]["codes"][0]["code"].as_str();
        let code = code.with_context(|| format!("no code in a payment answered {status}"))?;
        seen.waits.push(asked.elapsed());
        seen.codes.push(code.to_owned());
    }
    Ok(seen)
}

impl Crowd {
    fn rate(&self) -> f64 {
        f64::from(u32::try_from(self.waits.len()).unwrap_or(u32::MAX)) / self.took.as_secs_f64()
    }

    /// The wait in milliseconds that `percent` of the sales did not exceed.
    fn wait(&self, percent: usize) -> f64 {
        let at = (self.waits.len() * percent / 100).min(self.waits.len() - 1);
        self.waits[at].as_secs_f64() * 1e3
    }

    fn json(&self) -> Value {
        json!({
            "buyers": self.buyers, "sales": self.waits.len(), "sales_per_second": self.rate(),
            "pay_to_codes_p50_ms": self.wait(50), "pay_to_codes_p99_ms": self.wait(99),
        })
    }

    fn line(&self) -> String {
        let (p50, p99, longest) = (self.wait(50), self.wait(99), self.wait(100));
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
