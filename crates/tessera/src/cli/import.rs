//! `tessera codes import`: what is said of a file.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file.
    pub(crate) file: PathBuf,
    /// The product it is for.
    #[arg(long)]
    pub(crate) sku: String,
    /// How it is written: `lines` or `csv`; by its name if not given.
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// How it is encoded: utf-8, utf-16le, utf-16be or gb18030; told from its bytes if not given.
    #[arg(long)]
    pub(crate) encoding: Option<String>,
    /// What stands between fields of csv: `,`, `;`, tab, `|` or `----`; told from its header if not given.
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) separator: Option<String>,
    /// The first row of csv is a code, whatever it looks like.
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Take what a spreadsheet seems to have damaged as it is.
    #[arg(long)]
    pub(crate) as_is: bool,
    /// Import the rest of a file that has malformed lines.
    #[arg(long)]
    pub(crate) skip_malformed: bool,
    /// Who the codes were bought from.
    #[arg(long)]
    pub(crate) supplier: Option<String>,
    /// What all of them cost, in minor units of the product's currency.
    #[arg(long, value_name = "MINOR", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) cost: Option<i64>,
    /// When they are worth nothing any more: RFC 3339, or a date; they are sold before others, and not after.
    #[arg(long, value_name = "DATE")]
    pub(crate) expires: Option<String>,
    /// Only say what would happen, with the first codes.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Why, for the audit log.
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportCodes {
    /// The product.
    #[arg(long)]
    pub(crate) sku: String,
    /// Only of this batch.
    #[arg(long)]
    pub(crate) batch: Option<String>,
    /// Only those that are unissued, issued or voided.
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// Why, for the audit log.
    #[arg(long)]
    pub(crate) reason: Option<String>,
}
