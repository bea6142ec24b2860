//! Generations: which copy of the data this is, and which ones it was recovered from.

use async_trait::async_trait;
use tessera_model::ids::BatchId;

use crate::error::Result;

/// What is said to whoever would issue while the store is suspended.
pub const SUSPENDED: &str = "issuing is suspended: an issuer found an older copy of its data. Nothing is issued until `tessera recover` was run";

/// Which server holds the data: only PostgreSQL says, and only to a role that may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// Random, made with the server's data; a physical copy has the same.
    pub system_id: i64,
    /// Rises whenever a standby is promoted or a backup is recovered from its log.
    pub timeline: i64,
}

/// Operations on generations.
#[async_trait]
pub trait GenerationOps {
    /// Whether this copy was recovered from that generation, at whatever time.
    async fn generations_had(&mut self, generation: [u8; 16]) -> Result<bool>;

    /// Suspends issuing, by whomever: [`Tx::sets_raise`](crate::Tx::sets_raise) is refused from then on.
    /// False when it was suspended before.
    async fn generations_suspend(&mut self) -> Result<bool>;

    /// Ends this copy's generation, in which `burned` positions were burned, and begins another; issuing is not
    /// suspended any more. `others` ended too: generations that issuers have worked with and this copy does not know.
    ///
    /// # Errors
    /// `Data` when the new one was had before.
    async fn generations_renew(&mut self, new: [u8; 16], others: &[[u8; 16]], burned: i64) -> Result<()>;

    /// How far each of these batches is given out, and up to `limit` open ones of which anything is, newest first; a batch
    /// that is not there, or is loading, is absent.
    async fn batches_issued(&mut self, batches: &[BatchId], limit: i64) -> Result<Vec<(BatchId, i64)>>;

    /// Which server the data was last worked with on.
    async fn server_seen(&mut self) -> Result<Option<Server>>;

    /// Writes that down.
    async fn server_put(&mut self, server: Server) -> Result<()>;
}
