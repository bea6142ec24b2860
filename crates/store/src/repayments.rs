//! Rounds called off whose shares are being paid back, part by part.

use async_trait::async_trait;
use tessera_model::ids::BatchId;

use crate::error::Result;
use crate::rounds::Share;

/// Operations on repayments: one a round, from its being called off until all its shares are paid back.
#[async_trait]
pub trait RepaymentOps {
    /// Begins the repayment of a round, at its first share.
    async fn repayments_begin(&mut self, round: BatchId) -> Result<()>;

    /// Locks a repayment; returns the position below which its shares are done. `None` when there is none. Before the
    /// locks of orders.
    async fn repayments_lock(&mut self, round: BatchId) -> Result<Option<i64>>;

    /// Shares of a round that end behind `upto`, in order of position.
    async fn repayments_shares(&mut self, round: BatchId, upto: i64, limit: i64) -> Result<Vec<Share>>;

    /// The shares below `upto` are done.
    async fn repayments_move(&mut self, round: BatchId, upto: i64) -> Result<()>;

    /// All of the round's shares are done.
    async fn repayments_end(&mut self, round: BatchId) -> Result<()>;

    /// Rounds that are not done.
    async fn repayments_list(&mut self) -> Result<Vec<BatchId>>;
}
