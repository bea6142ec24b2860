//! `tessera-bench import`: a large file of codes, imported while a sale goes on at a steady rate, and beside it the
//! least that storing as many rows takes.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use serde_json::Value;
use tessera_store::Entropy;

use crate::issue::{about, note};
use crate::own::{self, Addresses, Engine, On, Own};
use report::{Measured, Stretch, Took};
use steady::Steady;

mod file;
mod plain;
mod report;
mod steady;
#[cfg(test)]
mod tests;

/// What buyers buy meanwhile, and what is imported.
const SOLD: &str = "sold";
const IMPORTED: &str = "bought-in";

/// The longest that the sale goes on before it is measured: the first orders open connections and fill caches.
const WARM: Duration = Duration::from_secs(2);

/// How to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// What the shop runs on: all roles in one process of the `tessera` built beside this.
    #[arg(long)]
    on: On,
    #[command(flatten)]
    addresses: Addresses,
    /// Codes in the file, of 16 characters; as many as are imported within four minutes.
    #[arg(long, default_value_t = 1_000_000)]
    lines: usize,
    /// Orders a second that are placed and paid beside it, 0 for none; 200 on a file and 500 on servers unless said.
    #[arg(long)]
    rate: Option<u32>,
    /// For how long the sale is measured before the import, in seconds.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// The codes that the sale begins with.
    #[arg(long, default_value_t = 200_000)]
    codes: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> anyhow::Result<()> {
    report::print(&measured(options).await?, options.json)
}

async fn measured(options: &Options) -> anyhow::Result<Measured> {
    let engine = Engine::new(options.on, &options.addresses)?;
    let entropy = Entropy::from_seed([16; 32]);
    note("filling the shop");
    let own = Own::start(&engine, SOLD, options.codes).await;
    own::product(own.program(), IMPORTED).await;
    let measured = measure(options, &engine, &own, &entropy).await;
    // Closed whatever came of it; ends with a reconcile.
    note("reconciling");
    let shop = own.close().await;
    let durable = match &engine {
        Engine::Sqlite => "synchronous = FULL".to_owned(),
        Engine::Servers { postgres, .. } => about(postgres).await?,
    };
    let measured = measured?;
    Ok(Measured { shop: format!("{shop}, {durable}"), ..measured })
}

/// The sale alone, the import beside it, and then as many plain rows beside it.
async fn measure(
    options: &Options,
    engine: &Engine,
    own: &Own,
    entropy: &Entropy,
) -> anyhow::Result<Measured> {
    let rate = options.rate.unwrap_or(match engine {
        Engine::Sqlite => 200,
        Engine::Servers { .. } => 500,
    });
    let file = own.program().file("codes.txt", file::codes(options.lines, entropy));
    let rows = plain::rows(options.lines, entropy);
    let sale = Steady::start(own.at(), SOLD, rate);
    let mut stretches = vec![];
    if rate > 0 {
        note("the sale alone");
        let measured = Duration::from_secs(options.seconds);
        tokio::time::sleep(WARM.min(measured)).await;
        let alone = async {
            tokio::time::sleep(measured).await;
            Ok(())
        };
        stretches.push(stretch("before", alone).await?.0);
    }
    note("the import");
    let (during, import) = stretch("the import", import(own, &file, options.lines)).await?;
    note("as many plain rows");
    let (beside, took) = stretch("the plain rows", plain(engine, own.program().folder(), &rows)).await?;
    stretches.extend([during, beside]);
    let sold = sale.end().await?;
    let way = plain::way(engine);
    Ok(Measured {
        shop: String::new(),
        lines: options.lines,
        rate,
        import,
        plain: took,
        way,
        stretches,
        sold,
    })
}

/// Does a thing, and says between which instants.
async fn stretch<T>(
    name: &'static str,
    what: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(Stretch, T)> {
    let from = Instant::now();
    let done = what.await?;
    Ok((Stretch { name, from, upto: Instant::now() }, done))
}

/// The import as an operator does it: a process of its own beside the server.
async fn import(own: &Own, file: &str, lines: usize) -> anyhow::Result<Took> {
    let ended = own.program().command(&["--json", "codes", "import", file, "--sku", IMPORTED]).await;
    ensure!(ended.code == Some(0), "the import ended with {:?}: {}", ended.code, ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).context("the import's report")?;
    ensure!(report["imported"].as_u64() == u64::try_from(lines).ok(), "not every code was imported");
    Ok(Took { time: ended.took, memory_kib_max: ended.memory_kib_max })
}

async fn plain(engine: &Engine, folder: &Path, rows: &[plain::Row]) -> anyhow::Result<Duration> {
    match engine {
        Engine::Sqlite => plain::insert(&folder.join("plain.db"), rows).await,
        Engine::Servers { postgres, .. } => plain::copy(postgres, rows).await,
    }
}
