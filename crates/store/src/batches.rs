//! Batches, codes and the chain of spans.

use async_trait::async_trait;
use tessera_model::batch::OpenBatch;
use tessera_model::coupon::Format;
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::keys::{Fingerprint, Sealed, WrappedKey};
use tessera_model::product::Pick;
use tessera_model::span::{Owner, Span};
use tessera_model::text::{Sku, Supplier};
use tessera_model::time::Timestamp;

use crate::error::Result;

/// A batch about to be written.
#[derive(Clone, Debug)]
pub struct NewBatch {
    /// Its id.
    pub id: BatchId,
    /// Whose codes these are.
    pub product: ProductId,
    /// How it will give them out.
    pub pick: Pick,
    /// Its own key, wrapped for (`batch`, id).
    pub key: WrappedKey,
    /// What is known of where it came from.
    pub bought: Bought,
}

/// What an operator says of codes that were bought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bought {
    /// From whom.
    pub supplier: Option<Supplier>,
    /// For how much all of them, in minor units of the product's currency; 0 or more.
    pub cost_minor: Option<i64>,
    /// When they are worth nothing any more.
    pub expires_at: Option<Timestamp>,
}

/// One code about to be stored.
#[derive(Clone, Debug)]
pub struct NewCode {
    /// Where in the batch, from 0.
    pub position: i64,
    /// Sealed for that place.
    pub sealed: Sealed,
    /// What recognises it.
    pub fingerprint: Fingerprint,
}

/// What is needed to read the codes of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchReading {
    /// The batch.
    pub id: BatchId,
    /// Its size.
    pub size: i64,
    /// How it gives codes out.
    pub pick: Pick,
    /// Its own key, wrapped.
    pub key: WrappedKey,
    /// Where its codes come from.
    pub source: CodeSource,
}

/// Where the codes of a batch come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeSource {
    /// They are stored, sealed.
    Stored,
    /// They are computed by a format.
    Pool {
        /// The format.
        format: Format,
        /// The format's own key, wrapped for (`coupon_format`, format).
        key: WrappedKey,
        /// The index of the first position.
        start: i64,
    },
    /// They are the numbers of a round.
    Round {
        /// The raffle.
        product: ProductId,
        /// The raffle's own key, wrapped for (`raffle`, product).
        key: WrappedKey,
        /// The round's number.
        number: i64,
        /// The lowest of its numbers.
        first_number: i64,
    },
}

/// Codes that a line was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedSpan {
    /// Whose.
    pub owner: Owner,
    /// The first position.
    pub start: i64,
    /// The first position after it.
    pub upto: i64,
    /// Those of its positions that were voided since.
    pub voided: Vec<i64>,
    /// Those of the voided ones in whose place others stand.
    pub replaced: Vec<i64>,
    /// The batch.
    pub batch: BatchReading,
}

/// Where a known code is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownCode {
    /// Which one.
    pub fingerprint: Fingerprint,
    /// The product it was imported for.
    pub sku: Sku,
    /// Where in the batch it is stored.
    pub position: i64,
    /// The first position of the batch's order that is not given out; none while it is loading.
    pub issued: Option<i64>,
    /// The batch.
    pub batch: BatchReading,
}

/// Operations on batches and what is in them.
#[async_trait]
pub trait BatchOps {
    /// Locks the open batches of these products, rounds apart, and returns them in the order they are used: earliest
    /// expiry first, then oldest.
    async fn batches_open_of(&mut self, products: &[ProductId]) -> Result<Vec<OpenBatch>>;

    /// Moves `issued` of batches; one whose last position is covered closes.
    async fn batches_advance(&mut self, moved: &[(BatchId, i64)]) -> Result<()>;

    /// Links spans to their chains, in order.
    async fn spans_append(&mut self, spans: &[Span]) -> Result<()>;

    /// The codes of these orders, by order, line and part.
    async fn spans_of(&mut self, orders: &[OrderId]) -> Result<Vec<IssuedSpan>>;

    /// The stored codes of `[from, upto)` of each batch.
    async fn codes_read(&mut self, ranges: &[(BatchId, i64, i64)]) -> Result<Vec<(BatchId, i64, Sealed)>>;

    /// Begins a batch that nobody sees.
    async fn batches_begin(&mut self, batch: &NewBatch) -> Result<()>;

    /// Adds codes to a loading batch.
    ///
    /// # Errors
    /// `Data` when the batch is not loading, or a code is in the store already.
    async fn codes_insert(&mut self, batch: BatchId, codes: &[NewCode]) -> Result<()>;

    /// Which of these codes the store has, and where.
    async fn codes_known(&mut self, fingerprints: &[Fingerprint]) -> Result<Vec<KnownCode>>;

    /// Puts a loading batch on sale: fixes its size and writes the chain's anchor.
    ///
    /// # Errors
    /// `Data` when it does not hold exactly `size` codes at positions `0..size`.
    async fn batches_open(&mut self, batch: BatchId, size: i64) -> Result<()>;

    /// Loading batches, oldest first.
    async fn batches_loading(&mut self) -> Result<Vec<BatchId>>;

    /// Removes up to `limit` codes of a loading batch, and the batch once it is empty. True when nothing is
    /// left to do: it is gone, or it was opened meanwhile.
    async fn batches_discard(&mut self, batch: BatchId, limit: i64) -> Result<bool>;
}
