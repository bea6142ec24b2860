//! Payments as operators look at them, and the refunds that were told of them.

use async_trait::async_trait;
use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::pay::{KnownRefund, MoneyState, PaymentReason};
use tessera_model::text::{Provider, Reference};
use tessera_model::time::Timestamp;

use crate::error::Result;
use crate::payments::Payment;

/// A payment with what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPayment {
    /// As it arrived.
    pub payment: Payment,
    /// The order it was matched with.
    pub order: Option<OrderId>,
    /// When it came.
    pub received_at: Timestamp,
    /// Why a person has to look.
    pub reason: Option<PaymentReason>,
}

/// Operations on payments for those who look at them and pay them back.
#[async_trait]
pub trait RefundOps {
    /// Payments as they are, unlocked; unknown ones are absent.
    async fn payments_read(&mut self, ids: &[PaymentId]) -> Result<Vec<StoredPayment>>;

    /// Locks payments, lowest id first. After the locks of orders.
    async fn payments_lock(&mut self, ids: &[PaymentId]) -> Result<()>;

    /// Payments newest first: all, or those with money in `state`.
    async fn payments_list(
        &mut self,
        state: Option<MoneyState>,
        before: Option<PaymentId>,
        limit: i64,
    ) -> Result<Vec<StoredPayment>>;

    /// Where the money of these payments is, by payment and state; zero sums are absent.
    async fn portions_of(&mut self, ids: &[PaymentId]) -> Result<Vec<(PaymentId, MoneyState, i64)>>;

    /// Keeps refunds, each of a payment of this provider. An operator's name is its provider's once, a notice's id its
    /// payment's.
    async fn refunds_put(&mut self, refunds: &[(Provider, KnownRefund)]) -> Result<()>;

    /// The refunds that operators gave these names, each with its provider.
    async fn refunds_named(
        &mut self,
        names: &[(Provider, Reference)],
    ) -> Result<Vec<(Provider, KnownRefund)>>;

    /// The refunds of these payments, however they were told.
    async fn refunds_of(&mut self, payments: &[PaymentId]) -> Result<Vec<KnownRefund>>;
}
