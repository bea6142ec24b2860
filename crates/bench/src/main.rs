//! `tessera-bench`: what the design's decisions are worth, as ratios measured side by side in one run.

#![expect(clippy::float_arithmetic, reason = "rates and ratios are what this prints")]

mod buyer;
mod connection;
mod import;
mod issue;
mod own;
mod sale;
mod shop;
mod waits;
mod way;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use own::{Addresses, Engine, On};
use tessera_testbed::chaos::{self, Plan, Report};

/// Measures Tessera against the ways it does not do things.
#[derive(Debug, Parser)]
#[command(name = "tessera-bench", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Issue in sets beside one order per transaction, and orders for many codes beside orders for one.
    Issue {
        /// Orders issued in sets of 256 in each round.
        #[arg(long, default_value_t = 4_096)]
        orders: usize,
        /// Rounds; each measures every way once.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Keep SQLite's file in this folder, to measure its disk.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Measure on this PostgreSQL, too, beside the way shops issue today; databases are made in it and dropped.
        #[arg(long, value_name = "URL", env = "TEST_POSTGRES_URL", hide_env_values = true)]
        postgres: Option<String>,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Buyers against a serving shop: order, pay, codes in the payment's answer.
    Sale {
        /// Where the shop listens; it has to take test payments.
        #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDR")]
        at: SocketAddr,
        /// Serve a shop of its own on this instead, all roles in one process of the `tessera` built beside this.
        #[arg(long, conflicts_with = "at")]
        on: Option<On>,
        #[command(flatten)]
        addresses: Addresses,
        /// The codes that a shop of its own begins with.
        #[arg(long, default_value_t = 200_000)]
        codes: usize,
        /// What they buy.
        #[arg(long, default_value = "iqiyi-month")]
        sku: String,
        /// How many buy at once; several, such as `1,256`, are measured one after the other.
        #[arg(long, value_delimiter = ',', default_value = "256")]
        buyers: Vec<usize>,
        /// For how long, each.
        #[arg(long, default_value_t = 6)]
        seconds: u64,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// A large file of codes imported beside a sale at a steady rate, and beside the least that storing it takes.
    Import(import::Options),
    /// A sale during which a process or a server is killed at random every few seconds: nothing lost, doubled, oversold.
    Chaos {
        /// What the shop runs on; servers are started for it, and killed.
        #[arg(long)]
        on: On,
        /// For how long, in seconds.
        #[arg(long, default_value_t = 300)]
        seconds: u64,
        /// A kill every so many seconds.
        #[arg(long, default_value_t = 5)]
        every: u64,
        /// How many buy at once.
        #[arg(long, default_value_t = 16)]
        buyers: u64,
        /// What is killed, and what buyers do, but for the moments.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// Prints what came of it; what is wrong has ended the program before.
#[expect(clippy::print_stdout, reason = "it is what was asked for")]
fn chaos_report(report: &Report) {
    let kills: Vec<String> = report.kills.iter().map(|(part, times)| format!("{part} {times}")).collect();
    println!("killed: {}", kills.join(", "));
    println!("orders: {} placed, {} issued, {} released", report.placed, report.issued, report.released);
    println!("codes: {}, none twice, no product oversold, the books balance", report.codes);
    println!("longest wait for an answer: {:.1} s", report.longest_wait.as_secs_f64());
    println!("all issued {:.1} s after the end", report.settled_after.as_secs_f64());
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Issue { orders, rounds, data, postgres, json } => {
            issue::run(&issue::Options { orders, rounds, data, postgres, json }).await
        }
        Command::Sale { at, on, addresses, codes, sku, buyers, seconds, json } => {
            let shop = match on {
                Some(on) => sale::Where::Own(Engine::new(on, &addresses)?, codes),
                None => sale::Where::At(at),
            };
            sale::run(&sale::Options { shop, sku, buyers, seconds, json }).await
        }
        Command::Import(options) => import::run(&options).await,
        Command::Chaos { on, seconds, every, buyers, seed } => {
            let engine = match on {
                On::Sqlite => tessera_testbed::Engine::Sqlite,
                On::Servers => tessera_testbed::Engine::Postgres,
            };
            let (lasts, every) = (Duration::from_secs(seconds), Duration::from_secs(every));
            let report = chaos::run(&Plan { engine, lasts, every, buyers, seed }).await;
            chaos_report(&report);
            Ok(())
        }
    }
}
