//! `tessera-bench`: what the design's decisions are worth, as ratios measured side by side in one run.

#![expect(clippy::float_arithmetic, reason = "rates and ratios are what this prints")]

mod issue;
mod sale;
mod shop;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

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
        /// Keep the database in this folder, to measure its disk.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Buyers against a serving shop: order, pay, codes in the payment's answer.
    Sale {
        /// Where the shop listens; it has to take test payments.
        #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDR")]
        at: SocketAddr,
        /// What they buy.
        #[arg(long, default_value = "iqiyi-month")]
        sku: String,
        /// How many buy at once.
        #[arg(long, default_value_t = 256)]
        buyers: usize,
        /// For how long.
        #[arg(long, default_value_t = 6)]
        seconds: u64,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Issue { orders, rounds, data, json } => {
            issue::run(&issue::Options { orders, rounds, data, json }).await
        }
        Command::Sale { at, sku, buyers, seconds, json } => {
            sale::run(&sale::Options { at, sku, buyers, seconds, json }).await
        }
    }
}
