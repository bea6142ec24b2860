//! Payments, the ledger of money, and notices that need a person.

use async_trait::async_trait;
use tessera_model::ids::{NoticeId, OrderId, PaymentId};
use tessera_model::money::Money;
use tessera_model::pay::{MoneyEntry, MoneyState, PaymentReason};
use tessera_model::text::{OrderReference, Provider, Reference};
use tessera_model::time::Timestamp;

use crate::error::Result;

/// A payment as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Made before the set.
    pub id: PaymentId,
    /// Who took it.
    pub provider: Provider,
    /// The provider's name for it; with the provider, unique.
    pub reference: Reference,
    /// The order as the notice wrote it.
    pub order_reference: OrderReference,
    /// What arrived, above zero.
    pub amount: Money,
    /// When, as the provider says.
    pub paid_at: Option<Timestamp>,
}

impl Payment {
    /// The order it names, if that is an order id at all.
    pub fn order(&self) -> Option<OrderId> {
        OrderId::parse(self.order_reference.as_str())
    }
}

/// Where one payment's money stands with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// The order.
    pub order: OrderId,
    /// The payment.
    pub payment: PaymentId,
    /// The state.
    pub state: MoneyState,
    /// Minor units, not zero.
    pub minor: i64,
    /// When the payment came.
    pub received_at: Timestamp,
}

/// A notice kept for operators: refused, or at odds with what is known.
#[derive(Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its id.
    pub id: NoticeId,
    /// Whose it claims to be.
    pub provider: Provider,
    /// What is wrong with it.
    pub reason: String,
    /// What arrived.
    pub body: Vec<u8>,
    /// When.
    pub received_at: Timestamp,
}

/// Operations on payments.
#[async_trait]
pub trait PaymentOps {
    /// Inserts payments whose (provider, reference) is new; returns the ids of those inserted. Comes before
    /// every lock.
    async fn payments_claim(&mut self, payments: &[Payment]) -> Result<Vec<PaymentId>>;

    /// The stored payments with these names.
    async fn payments_known(&mut self, names: &[(Provider, Reference)]) -> Result<Vec<Payment>>;

    /// Takes back payments claimed by this transaction.
    async fn payments_unclaim(&mut self, ids: &[PaymentId]) -> Result<()>;

    /// Says which order a payment was matched with, and why a person has to look at it.
    async fn payments_explain(
        &mut self,
        explained: &[(PaymentId, Option<OrderId>, Option<PaymentReason>)],
    ) -> Result<()>;

    /// Appends to the ledger.
    async fn money_append(&mut self, entries: &[MoneyEntry]) -> Result<()>;

    /// Where the money of these orders is, per payment and state; zero sums are absent.
    async fn money_of(&mut self, orders: &[OrderId]) -> Result<Vec<Portion>>;

    /// Keeps notices; one that is kept already, by an earlier run of the same set, stays as it is.
    async fn notices_put(&mut self, notices: &[Notice]) -> Result<()>;

    /// Forgets all notices kept for this reason but the newest `keep`.
    async fn notices_trim(&mut self, reason: &str, keep: i64) -> Result<()>;

    /// Notices, newest first.
    async fn notices_list(&mut self, before: Option<NoticeId>, limit: i64) -> Result<Vec<Notice>>;
}
