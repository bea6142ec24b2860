//! Refunds that are told: money of a payment went back, as an operator confirms or a provider's notice says.
//!
//! The rules are `model`'s ([`tessera_model::pay::refund_told`]). A refund notice that does not fit what is known (no such payment, another
//! currency or order, more than is there, an id that named another refund) is kept for operators with its reason; what of
//! it fits still moves. Neither moves an order, but one that is `refund_due` is `refunded` once nothing of it is left.

use async_trait::async_trait;
use tessera_model::ids::{NoticeId, PaymentId};
use tessera_model::money::Money;
use tessera_model::text::{OrderReference, Provider, Reason, Reference};
use tessera_store::{Result, Step, Tx};

mod books;
mod notice;

use books::Books;

/// A refund that is told.
#[derive(Clone)]
pub enum RefundTold {
    /// An operator confirms that money was paid back.
    Confirmed {
        /// Of this payment.
        payment: PaymentId,
        /// The refund's name, the provider's once.
        reference: Reference,
        /// How much, in minor units; none for all that is to be paid back.
        minor: Option<i64>,
        /// Whose word: a key's name, or `cli`.
        actor: String,
        /// Why they say so, if they do.
        reason: Option<Reason>,
    },
    /// A provider's notice says so.
    Notice(RefundNotice),
}

/// What a provider's notice says of a refund, parsed and believed.
#[derive(Clone)]
pub struct RefundNotice {
    /// Whose.
    pub provider: Provider,
    /// The payment, by its reference.
    pub payment: Reference,
    /// The notice's own id, repeated when it is sent again.
    pub message: Reference,
    /// How much.
    pub amount: Money,
    /// The order, as they write it, if they do.
    pub order: Option<OrderReference>,
    /// The id under which it is kept if it does not fit.
    pub notice: NoticeId,
    /// What arrived, for that case.
    pub body: Vec<u8>,
}

/// What became of a refund that was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundOutcome {
    /// It is new, and kept.
    Kept {
        /// The payment.
        payment: PaymentId,
        /// How much moved; nothing when an operator had confirmed it before its notice came.
        moved: i64,
        /// Whether all that was told was there.
        fits: bool,
    },
    /// The same was told before under this name; nothing changed.
    Repeated(PaymentId),
    /// No such payment (of operators only).
    NotFound,
    /// More than may be confirmed: this much is there (of operators only).
    TooMuch {
        /// Refund due and unmatched.
        there: i64,
    },
    /// The name is another refund's (of operators only).
    ReferenceReused,
    /// A notice that does not fit; it is kept for operators.
    Recorded,
}

/// The step.
pub struct Refunds;

#[async_trait]
impl Step for Refunds {
    const NAME: &str = "paid-back";
    type Input = RefundTold;
    type Output = RefundOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[RefundTold], _again: bool) -> Result<Vec<RefundOutcome>> {
        let mut books = Books::open(tx, inputs).await?;
        let outcomes = inputs.iter().map(|told| books.tell(told)).collect();
        books.write(tx).await?;
        Ok(outcomes)
    }
}
