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
use tessera_model::import::{Format, Parser, Row};
use tessera_model::keys::Keyring;
use tessera_model::product::Product;
use tessera_model::text::Sku;
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

/// Malformed lines that a report lists; the rest is counted.
pub const MALFORMED_LISTED_MAX: usize = 10_000;

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
    pub format: Format,
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
    /// Malformed lines with the reason, at most [`MALFORMED_LISTED_MAX`].
    pub malformed: Vec<(u64, String)>,
    /// How many lines were malformed.
    pub malformed_count: u64,
}

impl Report {
    /// Codes on sale by it: all new ones, or none when a line was malformed. With a dry run, those that would be.
    pub const fn imported(&self) -> u64 {
        if self.malformed_count == 0 { self.new } else { 0 }
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
    let product = product(store, &request.sku).await?;
    let lease = lease::take(store, entropy.bytes(), &request, watch).await?;
    let result = async {
        lease::clear(store, &lease).await?;
        let mut loading = open::begin(store, keyring, entropy, &product, lease.holder()).await?;
        let read = read(&mut loading, request.format, chunks, watch).await;
        open::finish(store, loading, read, &request).await
    }
    .await;
    // What is on sale is on sale: a lease that cannot be given up runs out by itself.
    if let Err(error) = lease.release(store).await {
        tracing::warn!(%error, "the import's lease could not be given up");
    }
    result
}

async fn product(store: &Arc<dyn Store>, sku: &Sku) -> Result<Product, ImportError> {
    let (reader, wanted) = (Arc::clone(store), sku.clone());
    let found =
        tessera_store::run_alone(async move { reader.snapshot().await?.products_of(&[wanted]).await })
            .await?;
    found.into_iter().next().ok_or_else(|| ImportError::NoProduct(sku.clone()))
}

/// Reads the whole file into the loading batch.
async fn read(
    loading: &mut chunk::Loading,
    format: Format,
    chunks: &mut dyn Chunks,
    watch: &(dyn Fn(Progress) + Send + Sync),
) -> Result<(), ImportError> {
    let (mut parser, mut rows, mut bytes) = (Parser::new(format), Vec::new(), 0_u64);
    while let Some(chunk) = chunks.next().await.map_err(ImportError::Source)? {
        bytes = bytes.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        parser.feed(&chunk, &mut rows);
        take(loading, &mut rows, CHUNK_MAX).await?;
        watch(Progress::Read { bytes, lines: loading.report.lines });
    }
    parser.finish(&mut rows);
    take(loading, &mut rows, 1).await
}

/// Loads rows while at least `least` are there.
async fn take(loading: &mut chunk::Loading, rows: &mut Vec<Row>, least: usize) -> Result<(), ImportError> {
    while rows.len() >= least && !rows.is_empty() {
        let some = rows.drain(..rows.len().min(CHUNK_MAX)).collect();
        loading.take(some).await?;
    }
    Ok(())
}
