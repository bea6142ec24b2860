//! Generations: which copy of the data this is, and which ones it was recovered from.

use async_trait::async_trait;

use crate::error::Result;

/// Operations on generations.
#[async_trait]
pub trait GenerationOps {
    /// Whether this copy was recovered from that generation, at whatever time.
    async fn generations_had(&mut self, generation: [u8; 16]) -> Result<bool>;

    /// Ends this copy's generation, in which `burned` positions were burned, and begins another.
    ///
    /// # Errors
    /// `Data` when the new one was had before.
    async fn generations_renew(&mut self, new: [u8; 16], burned: i64) -> Result<()>;
}
