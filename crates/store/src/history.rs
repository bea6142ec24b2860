//! What happened to one order: what a dispute needs.

use async_trait::async_trait;
use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::pay::MoneyState;
use tessera_model::text::{Provider, Reference};
use tessera_model::time::Timestamp;

use crate::error::Result;
use crate::letters::Letter;
use crate::operators::AuditEntry;

/// An entry of the ledger of money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoneyMoved {
    /// When.
    pub at: Timestamp,
    /// The payment.
    pub payment: PaymentId,
    /// Who took it.
    pub provider: Provider,
    /// The provider's name for it.
    pub reference: Reference,
    /// Minor units; below zero where money left the state.
    pub amount: i64,
    /// The state.
    pub state: MoneyState,
}

/// What is known of an order beyond what is shown of it.
#[async_trait]
pub trait HistoryOps {
    /// The entries of the order's payments, oldest first, at most `limit`.
    async fn money_history(&mut self, order: OrderId, limit: i64) -> Result<Vec<MoneyMoved>>;

    /// What operators did to a thing, oldest first, at most `limit`.
    async fn audit_of(&mut self, subject: &str, limit: i64) -> Result<Vec<(Timestamp, AuditEntry)>>;

    /// The order's dead letters, oldest first.
    async fn letters_of(&mut self, order: OrderId) -> Result<Vec<Letter>>;

    /// Raises the order's epoch and its version: tokens given out before are worth nothing. Returns the epoch.
    async fn orders_reissue(&mut self, order: OrderId) -> Result<Option<i32>>;
}
