//! Import: a file of bought-in codes becomes a batch on sale, or nothing of it does.
//!
//! The file streams through the parser into an invisible `loading` batch, a chunk a transaction, so that the
//! one writer of SQLite is never held for the whole file and memory does not grow with it. Known codes are
//! skipped and counted; positions are dense. One small transaction at the end opens the batch. One import at
//! a time in the whole store: a code known only from a batch that is loading may vanish with it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tessera_model::ids::BatchId;
use tessera_model::import::{Layout, Parser, Row};
use tessera_model::keys::Keyring;
use tessera_model::product::{Kind, Product};
use tessera_model::text::Sku;
use tessera_store::batches::Bought;
use tessera_store::{Entropy, Store, StoreError};

mod chunk;
mod lease;
mod open;

/// The name of the import's lease.
pub const LEASE: &str = "import";

/// How long the lease lasts without a sign of life.
pub const LEASE_LASTS: Duration = Duration::from_secs(15);

/// Codes written in one transaction.
const CHUNK_MAX: usize = 1_000;

/// Malformed lines that a report lists, and as many that were known; the rest is counted.
pub const LISTED_MAX: usize = 10_000;

/// Codes that a dry run shows, for a person to see that the file was read as it was meant.
pub const SHOWN_MAX: usize = 5;

/// The most bytes of a file: ten million of the longest card codes.
pub const FILE_BYTES_MAX: u64 = 1 << 30;

/// Where a file's bytes come from, a chunk at a time.
#[async_trait]
pub trait Chunks: Send {
    /// The next bytes; none at the end.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, String>;
}

/// What to import.
#[derive(Clone, Debug)]
pub struct Request {
    /// For which product.
    pub sku: Sku,
    /// How the file is written.
    pub layout: Layout,
    /// Import the rest of a file that has malformed lines.
    pub skip_malformed: bool,
    /// How long to wait for another import; for ever if nothing is said.
    pub patience: Option<Duration>,
    /// Where the codes came from.
    pub bought: Bought,
    /// What it is called, for those who wait and for the audit log.
    pub source: String,
    /// Only say what would happen.
    pub dry_run: bool,
    /// Who imports.
    pub actor: String,
    /// Why, if they said.
    pub reason: Option<String>,
}

/// What an import did, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The batch that is on sale now.
    pub batch: Option<BatchId>,
    /// Lines of the file.
    pub lines: u64,
    /// Codes that are new; on sale unless it was a dry run or a line was malformed.
    pub new: u64,
    /// Lines of white space.
    pub blank: u64,
    /// Codes seen before in the same file.
    pub repeated_in_file: u64,
    /// Codes the store has, unsold.
    pub in_stock: u64,
    /// Codes the store has sold.
    pub already_sold: u64,
    /// Malformed lines with the reason, at most [`LISTED_MAX`].
    pub malformed: Vec<(u64, String)>,
    /// How many lines were malformed.
    pub malformed_count: u64,
    /// Lines whose code was known, at most [`LISTED_MAX`].
    pub known: Vec<(u64, Known)>,
    /// The first codes, of a dry run only. They are for the screen of who asked, and for no log.
    pub shown: Vec<String>,
    /// Whether malformed lines refuse the file: any of them, or such as are a fault of the whole file.
    pub refused: bool,
}

/// Why a code is not new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// It stands in the file before.
    RepeatedInFile,
    /// The store has it, unsold, for this product.
    InStock(Sku),
    /// The store has sold it, as this product's.
    AlreadySold(Sku),
}

impl Known {
    /// The word in JSON, and the product.
    pub const fn parts(&self) -> (&'static str, Option<&Sku>) {
        match self {
            Self::RepeatedInFile => ("repeated_in_file", None),
            Self::InStock(sku) => ("in_stock", Some(sku)),
            Self::AlreadySold(sku) => ("already_sold", Some(sku)),
        }
    }
}

impl Report {
    /// Codes on sale by it: all new ones, or none when the file was refused. With a dry run, those that would be.
    pub const fn imported(&self) -> u64 {
        if self.refused { 0 } else { self.new }
    }
}

/// What those who watch are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another import holds the lease.
    Waiting {
        /// What it is doing.
        purpose: String,
    },
    /// Bytes of the file read and lines done so far.
    Read {
        /// Bytes.
        bytes: u64,
        /// Lines.
        lines: u64,
    },
}

/// Why nothing was imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No such product.
    #[error("there is no product {0}: apply it first")]
    NoProduct(Sku),
    /// Its codes are computed.
    #[error(
        "{0} is no product of imported codes: a coupon takes a higher count, and a raffle opens rounds by itself"
    )]
    OtherKind(Sku),
    /// The codes would be of no use.
    #[error("the codes have ended by then: give a later expiry")]
    Ended,
    /// Another import goes on, and whoever asked would not wait longer.
    #[error("another import goes on ({0}): try again when it is done")]
    Waits(String),
    /// More bytes than a file may have.
    #[error("the file is longer than {FILE_BYTES_MAX} bytes: divide it")]
    TooLarge,
    /// The file could not be read.
    #[error("the file cannot be read: {0}")]
    Source(String),
    /// The lease was lost to another import: this process stood still for too long.
    #[error("another import took over while this one stood still: import again")]
    LeaseLost,
    /// The keyring cannot seal or open.
    #[error("{0}")]
    Keys(String),
    /// The store could not.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Imports what `request` says, telling `watch` how it goes.
///
/// # Errors
/// [`ImportError`]; nothing of the file is on sale then. Malformed lines are no error but in the report:
/// nothing of the file is on sale then either.
pub async fn import(
    store: &Arc<dyn Store>,
    keyring: &Arc<Keyring>,
    entropy: &Arc<Entropy>,
    request: Request,
    chunks: &mut dyn Chunks,
    watch: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Report, ImportError> {
    let product = product(store, &request).await?;
    let lease = lease::take(store, entropy.bytes(), &request, watch).await?;
    let result = async {
        lease::clear(store, &lease).await?;
        let mut loading = open::begin((store, keyring, entropy), &product, &request, lease.holder()).await?;
        let read = read(&mut loading, &request.layout, chunks, watch).await;
        // A chunk may still be on its way when the next one could not be taken.
        let read = loading.settle().await.and(read);
        open::finish(store, loading, read, &request).await
    }
    .await;
    // What is on sale is on sale: a lease that cannot be given up runs out by itself.
    if let Err(error) = lease.release(store).await {
        tracing::warn!(%error, "the import's lease could not be given up");
    }
    result
}

async fn product(store: &Arc<dyn Store>, request: &Request) -> Result<Product, ImportError> {
    let (reader, sku) = (Arc::clone(store), request.sku.clone());
    let (found, now) = tessera_store::run_alone(async move {
        let mut tx = reader.snapshot().await?;
        Ok((tx.products_of(&[sku]).await?.pop(), tx.now()))
    })
    .await?;
    let product = found.ok_or_else(|| ImportError::NoProduct(request.sku.clone()))?;
    if product.rules.kind != Kind::Codes {
        return Err(ImportError::OtherKind(request.sku.clone()));
    }
    match request.bought.expires_at.is_some_and(|end| end <= now) {
        true => Err(ImportError::Ended),
        false => Ok(product),
    }
}

/// Reads the whole file into the loading batch.
async fn read(
    loading: &mut chunk::Loading,
    layout: &Layout,
    chunks: &mut dyn Chunks,
    watch: &(dyn Fn(Progress) + Send + Sync),
) -> Result<(), ImportError> {
    let (mut parser, mut rows, mut bytes) = (Parser::new(layout), Vec::new(), 0_u64);
    while let Some(chunk) = chunks.next().await.map_err(ImportError::Source)? {
        bytes = bytes.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if bytes > FILE_BYTES_MAX {
            return Err(ImportError::TooLarge);
        }
        parser.feed(&chunk, &mut rows);
        take(loading, &mut rows, CHUNK_MAX).await?;
        watch(Progress::Read { bytes, lines: loading.report.lines });
    }
    parser.finish(&mut rows);
    take(loading, &mut rows, 1).await
}

/// Loads rows while at least `least` are there; they are stored when it returns.
async fn take(loading: &mut chunk::Loading, rows: &mut Vec<Row>, least: usize) -> Result<(), ImportError> {
    while rows.len() >= least && !rows.is_empty() {
        let some = rows.drain(..rows.len().min(CHUNK_MAX)).collect();
        loading.take(some).await?;
    }
    loading.settle().await
}
