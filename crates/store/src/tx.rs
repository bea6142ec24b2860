//! The store and its transactions.

use async_trait::async_trait;
use tessera_model::time::Timestamp;

use crate::batches::BatchOps;
use crate::coupons::CouponOps;
use crate::customers::CustomerOps;
use crate::error::Result;
use crate::generations::{GenerationOps, Server};
use crate::history::HistoryOps;
use crate::ledger::LedgerOps;
use crate::letters::LetterOps;
use crate::operators::OperatorOps;
use crate::orders::OrderOps;
use crate::payments::PaymentOps;
use crate::products::ProductOps;
use crate::reconcile::ReconcileOps;
use crate::refunds::RefundOps;
use crate::repayments::RepaymentOps;
use crate::rounds::RoundOps;
use crate::waitlists::WaitlistOps;

/// Where transactions come from. Cheap to share; lives as long as the process.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Begins a transaction that may write.
    ///
    /// # Errors
    /// `Unavailable` when no connection is to be had in time, or the engine is busy.
    async fn begin(&self) -> Result<Box<dyn Tx>>;

    /// Begins a transaction that reads one snapshot and blocks nobody.
    ///
    /// # Errors
    /// As [`Store::begin`].
    async fn snapshot(&self) -> Result<Box<dyn Tx>>;

    /// Whether the engine can do its work: a transaction that writes begins, and is given up or writes nothing but the time.
    ///
    /// # Errors
    /// `Unavailable` when it cannot.
    async fn ping(&self) -> Result<()>;

    /// How the schema stands to this program's.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be read.
    async fn schema(&self) -> Result<SchemaState>;

    /// Brings the schema up to date.
    ///
    /// # Errors
    /// `Schema` when the database is newer than this program, or was changed by hand.
    async fn migrate(&self) -> Result<()>;

    /// Ends every connection; what is under way is finished first.
    async fn close(&self);

    /// Whether all writing transactions go one after the other, whatever they touch.
    fn has_one_writer(&self) -> bool {
        false
    }

    /// Which server this is, where the engine says.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be asked.
    async fn server(&self) -> Result<Option<Server>> {
        Ok(None)
    }

    /// The engine's name and version, for people.
    fn engine(&self) -> String;
}

/// How a database's schema stands to the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// Nothing there yet.
    Empty,
    /// Older; `tessera migrate` brings it up to date.
    Behind,
    /// The same.
    Current,
    /// From a newer program.
    Ahead,
}

/// What a store says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreMeta {
    /// Which copy of the data this is.
    pub generation: [u8; 16],
    /// Issuing sets committed, ever.
    pub sets: i64,
    /// Issuer queues.
    pub partitions: u16,
    /// Whether issuing is suspended until `tessera recover` was run.
    pub suspended: bool,
}

/// A transaction. Dropped without [`Tx::commit`], it never was.
#[async_trait]
pub trait Tx:
    ProductOps
    + CustomerOps
    + OrderOps
    + PaymentOps
    + RefundOps
    + BatchOps
    + CouponOps
    + RoundOps
    + RepaymentOps
    + WaitlistOps
    + LedgerOps
    + HistoryOps
    + GenerationOps
    + LetterOps
    + OperatorOps
    + ReconcileOps
    + Send
{
    /// The one time of this transaction, never earlier than that of any committed before.
    fn now(&self) -> Timestamp;

    /// What the store says of itself.
    async fn meta(&mut self) -> Result<StoreMeta>;

    /// Says how many issuer queues there are; [`Tx::meta`] reads it back.
    ///
    /// # Errors
    /// `Data` for none, or more than 256.
    async fn partitions_put(&mut self, partitions: u16) -> Result<()>;

    /// Counts one more issuing set; returns the store's pair after it.
    ///
    /// # Errors
    /// `Unavailable` while issuing is suspended.
    async fn sets_raise(&mut self) -> Result<StoreMeta>;

    /// Makes it so.
    ///
    /// # Errors
    /// `Data` for a constraint checked at the end; `InDoubt` when the answer was lost.
    async fn commit(self: Box<Self>) -> Result<()>;
}
