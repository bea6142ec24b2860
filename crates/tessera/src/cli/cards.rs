//! The command line of cards: batches, voids, replacements, and finding orders.

use clap::Args;

use super::Listing;

#[derive(Debug, Args)]
pub(crate) struct Batches {
    /// Of one product only.
    #[arg(long)]
    pub(crate) sku: Option<String>,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct Ledger {
    /// Of one product only.
    #[arg(long)]
    pub(crate) sku: Option<String>,
    /// Of one batch only.
    #[arg(long)]
    pub(crate) batch: Option<String>,
    /// Of one order only.
    #[arg(long)]
    pub(crate) order: Option<String>,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct Void {
    /// The batch; without positions, all that nobody has of it.
    #[arg(long, required_unless_present = "codes", conflicts_with = "codes")]
    pub(crate) batch: Option<String>,
    /// Only this position of the batch, counted from 0; may be given several times.
    #[arg(long, requires = "batch", value_name = "N")]
    pub(crate) position: Vec<i64>,
    /// The codes in this file, one a line; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) codes: Option<String>,
    /// Why, for the audit log.
    #[arg(long)]
    pub(crate) reason: String,
    /// Take what pending orders claim, too: they wait.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Replace {
    /// The order's id.
    pub(crate) id: String,
    /// The line, counted from 1.
    #[arg(long, default_value_t = 1)]
    pub(crate) line: i32,
    /// The code's position in the line, counted from 1; may be given several times.
    #[arg(long, required = true, value_name = "P")]
    pub(crate) position: Vec<i64>,
    /// Why, for the audit log.
    #[arg(long)]
    pub(crate) reason: String,
    /// Give what pending orders claim, too: they wait.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReissueLink {
    /// The order's id.
    pub(crate) id: String,
    /// Why, for the audit log.
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Find {
    /// Only in this state, such as `awaiting_payment`.
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// Only of this customer.
    #[arg(long)]
    pub(crate) customer: Option<String>,
    /// Only with a payment of this reference.
    #[arg(long)]
    pub(crate) reference: Option<String>,
    /// Only the one that has or had this code; `-` reads it from standard input, where nobody else sees it.
    #[arg(long)]
    pub(crate) code: Option<String>,
    /// Only those placed then or later: RFC 3339.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Only those placed before then.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// Only those that were paid a minute ago and have no codes, or that have a dead letter.
    #[arg(long)]
    pub(crate) stuck: bool,
    #[command(flatten)]
    pub(crate) listing: Listing,
}
