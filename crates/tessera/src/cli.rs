//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

mod cards;
mod import;
mod keep;

pub(crate) use cards::{Batches, Find, Ledger, ReissueLink, Replace, Void};
pub(crate) use import::{ExportCodes, Import};
pub(crate) use keep::{ConfigCommand, Dlq, Keyring, Keys};

/// Sells things that are only a string: card codes, coupons, numbers.
#[derive(Debug, Parser)]
#[command(name = "tessera", version, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Read this configuration file instead of ./tessera.toml.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Answer with one JSON document on standard output.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve a shop to try out, filled with products, that takes test payments.
    Demo(Demo),
    /// Serve a shop.
    Serve(Serve),
    /// Bring the database up to date; a file is made with its keyring if there is none.
    Migrate,
    /// Check configuration, database, broker, keys and clock, and say what to do.
    Doctor,
    /// After a restore or a failover: burn what buyers may have seen, so that issuers go on.
    Recover(RecoverWish),
    /// List, show and apply products.
    #[command(subcommand)]
    Products(Products),
    /// Import codes and see the stock.
    #[command(subcommand)]
    Codes(Codes),
    /// List, show and export orders; refund, accept and cancel them.
    #[command(subcommand)]
    Orders(Orders),
    /// List payments and kept notices, and confirm refunds.
    #[command(subcommand)]
    Payments(Payments),
    /// List and show dead letters: messages that could not be done.
    #[command(subcommand)]
    Dlq(Dlq),
    /// List and show rounds of raffles, verify their draws, call one off.
    #[command(subcommand)]
    Rounds(Rounds),
    /// Prove from the tables that every balance holds.
    Reconcile,
    /// Make, list and revoke keys of operators and merchants.
    #[command(subcommand)]
    Keys(Keys),
    /// Make and show the keyring that codes are sealed under.
    #[command(subcommand)]
    Keyring(Keyring),
    /// Print the default configuration or check one.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the OpenAPI document.
    Openapi,
    /// Print a completion script.
    Completions {
        /// For this shell.
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Listen here; only loopback addresses, for test payments are free.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Keep everything in this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Take only these roles, as in api,courier; all by default.
    #[arg(long, value_delimiter = ',', value_name = "ROLE")]
    pub(crate) role: Vec<RoleName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum RoleName {
    /// Answers HTTP.
    Api,
    /// Hands out codes.
    Issuer,
    /// Sends what leaves the house.
    Courier,
    /// Expires holds, sweeps, tidies up.
    Housekeeper,
}

#[derive(Debug, Args)]
pub(crate) struct Listing {
    /// Show at most so many, up to 1000.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub(crate) limit: i64,
    /// Go on after this place: `next` of the list before.
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Products {
    /// List products, newest first.
    List(Listing),
    /// Show one product.
    Show {
        /// Its sku.
        sku: String,
    },
    /// Create products or replace what is said of them, all or none.
    Apply {
        /// TOML or JSON: one product or a list.
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Codes {
    /// Import a file of codes: all of its new codes go on sale together, or none.
    Import(Import),
    /// Make so many more codes of a coupon: they are on sale at once.
    Generate(Generate),
    /// Write codes as CSV, oldest batch first: a spreadsheet neither runs nor changes it, and an import reads it back.
    Export(ExportCodes),
    /// List batches, newest first.
    Batches(Batches),
    /// List every movement of stock with its cause: the newest batch first.
    Ledger(Ledger),
    /// Take codes from sale for good: a batch's rest, single positions, or the codes of a file.
    Void(Void),
    /// Show the stock.
    Stock {
        /// Of one product only.
        #[arg(long)]
        sku: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RecoverWish {
    /// In each open batch, at least: as many codes of one batch as may have been given out since the copy was made
    /// [default: 10 beside what the notes of issuers in `data_dir` tell; 1000 where they tell nothing].
    #[arg(long, value_name = "POSITIONS", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) burn: Option<i64>,
    /// Of each coupon format: as many codes as pools may have been given since [default: a tenth of what is left of it, at
    /// most 100000].
    #[arg(long, value_name = "CODES", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) skip_coupons: Option<i64>,
    /// Why, for the audit log.
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The coupon.
    #[arg(long)]
    pub(crate) sku: String,
    /// How many more.
    #[arg(long, value_parser = clap::value_parser!(i64).range(1..=1_000_000_000))]
    pub(crate) count: i64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Orders {
    /// List orders, newest first, without their codes.
    List(Find),
    /// Show one order with its codes and all that happened to it.
    Show {
        /// Its id.
        id: String,
    },
    /// Give an order other codes in the place of those that do not work.
    Replace(Replace),
    /// Make the links to an order worthless, and print the token of the new one.
    ReissueLink(ReissueLink),
    /// Make all money of a paid order due back; it gets no codes any more.
    Refund(Deed),
    /// Take what was paid for an order as enough.
    Accept(Deed),
    /// Cancel an order that is not paid.
    Cancel(Deed),
    /// Write orders as CSV, newest first.
    Export(Export),
}

#[derive(Debug, Args)]
pub(crate) struct Deed {
    /// The order.
    pub(crate) id: String,
    /// Why, for the audit log.
    #[arg(long)]
    pub(crate) reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// From this day or instant on, such as 2026-11-30 or 2026-11-30T08:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Up to this day, which is in it, or up to this instant, which is not.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// The zone of days, and of the times that are written, such as +08:00.
    #[arg(long, default_value = "+00:00", value_name = "OFFSET", allow_hyphen_values = true)]
    pub(crate) zone: String,
    /// Only this order; may be given again.
    #[arg(long, value_name = "ID", conflicts_with_all = ["from", "to"])]
    pub(crate) id: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Payments {
    /// List payments, newest first.
    List {
        /// Only those with money in this state, such as `refund_due`.
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        listing: Listing,
    },
    /// Confirm that money that was refund due or unmatched was paid back.
    Refunded {
        /// The payment.
        id: String,
        /// The refund's own name, such as the bank's; the same again changes nothing.
        #[arg(long)]
        reference: String,
        /// How much, in minor units; all of it if not given.
        #[arg(long, value_parser = clap::value_parser!(i64).range(1..))]
        minor: Option<i64>,
        /// Why, for the audit log.
        #[arg(long)]
        reason: Option<String>,
    },
    /// List notices that were refused or do not fit what is known, newest first.
    Notices(Listing),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Rounds {
    /// Draw again from the proof of a draw, and say whether it holds.
    Verify {
        /// The file of the proof, or the id of a round of this shop.
        #[arg(value_name = "ID|FILE")]
        of: String,
    },
    /// List rounds, newest first.
    List {
        /// Only of this raffle.
        #[arg(long)]
        sku: Option<String>,
        #[command(flatten)]
        listing: Listing,
    },
    /// Show one round.
    Show {
        /// Its id.
        id: String,
    },
    /// Say the beacon's value that a full round's draw waits for.
    Entropy {
        /// The round's id.
        id: String,
        /// What the beacon published, 64 digits of hex: `rounds show` names its round.
        randomness: String,
    },
    /// Call off a round before its draw: the price of its shares is to be paid back.
    Cancel {
        /// Its id.
        id: String,
        /// Why, for the audit log.
        #[arg(long)]
        reason: String,
    },
}
