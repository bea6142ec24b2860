//! Coupon formats and the pools that take consecutive intervals of them.

use async_trait::async_trait;
use tessera_model::coupon::Format;
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::keys::WrappedKey;
use tessera_model::time::Timestamp;

use crate::batches::BatchReading;
use crate::error::Result;

/// What is kept of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFormat {
    /// The format.
    pub format: Format,
    /// Its own key, wrapped for (`coupon_format`, format).
    pub key: WrappedKey,
    /// The first index that no pool takes.
    pub taken: i64,
}

/// A pool about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPool {
    /// Its batch's id.
    pub id: BatchId,
    /// Whose codes these are.
    pub product: ProductId,
    /// What they look like.
    pub format: Format,
    /// The first index it takes.
    pub start: i64,
    /// How many.
    pub size: i64,
    /// Its batch's own key, wrapped for (`batch`, id).
    pub key: WrappedKey,
    /// When its codes are of no use any more.
    pub expires_at: Option<Timestamp>,
}

/// The pool that an index belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolAt {
    /// Whose codes these are.
    pub product: ProductId,
    /// Where in the batch the index is.
    pub position: i64,
    /// The batch.
    pub batch: BatchReading,
}

/// Operations on formats and pools.
#[async_trait]
pub trait CouponOps {
    /// Keeps new formats with no index taken; those that are known stay as they are.
    async fn formats_put(&mut self, formats: &[(Format, WrappedKey)]) -> Result<()>;

    /// Locks every format and returns them: two that could emit one string have to be told apart.
    async fn formats_lock(&mut self) -> Result<Vec<StoredFormat>>;

    /// Every format, unlocked.
    async fn formats_read(&mut self) -> Result<Vec<StoredFormat>>;

    /// Opens pools: batch, anchor and interval each.
    ///
    /// # Errors
    /// `Data` when the interval does not begin where the format's last one ends.
    async fn pools_open(&mut self, pools: &[NewPool]) -> Result<()>;

    /// The pools that these indexes of a format belong to; those of none are absent.
    async fn pools_at(&mut self, at: &[(Format, i64)]) -> Result<Vec<PoolAt>>;

    /// Which of these products have any batch.
    async fn products_stocked(&mut self, products: &[ProductId]) -> Result<Vec<ProductId>>;

    /// Voids the unissued rest of the open batches of a product; returns each with where its span ends.
    async fn batches_void_rest(&mut self, product: ProductId) -> Result<Vec<(BatchId, i64)>>;
}
