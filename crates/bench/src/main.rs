//! `tessera-bench`: what the design's decisions are worth, as ratios measured side by side in one run.

#![expect(clippy::float_arithmetic, reason = "rates and ratios are what this prints")]

mod issue;
mod shop;

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
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Issue { orders, rounds, data, json } => {
            issue::run(&issue::Options { orders, rounds, data, json }).await
        }
    }
}
