//! What operators do to orders: refund, accept, cancel. Each needs a reason, and is written to the audit log in the
//! transaction that does it.
//!
//! Two operators at once wait for each other's locks; the second finds the order as the first left it, and is told so
//! by name. What was done already changes nothing and is no second entry in the log.

use tessera_model::ids::{OrderId, ProductId};
use tessera_model::order::OrderStatus;
use tessera_model::text::Reason;
use tessera_store::operators::AuditEntry;

mod accept;
mod cancel;
mod refund;

pub use accept::Accept;
pub use cancel::CancelFor;
pub use refund::Refund;

/// Who does something, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    /// A key's name, or `cli`.
    pub actor: String,
    /// Why.
    pub reason: Reason,
}

impl By {
    /// The audit log's entry.
    pub(crate) fn entry(&self, action: &str, subject: String) -> AuditEntry {
        self.entry_with(action, subject, "")
    }

    /// The same, with what only the deed itself knows, such as amounts.
    pub(crate) fn entry_with(&self, action: &str, subject: String, more: &str) -> AuditEntry {
        let reason = Some(format!("{}{more}", self.reason));
        AuditEntry { actor: self.actor.clone(), action: action.to_owned(), subject, reason }
    }
}

/// An operator's wish about an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The order.
    pub order: OrderId,
    /// Whose wish.
    pub by: By,
}

/// What became of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeedOutcome {
    /// It is done.
    Done {
        /// The order that became paid, with the product that chooses its queue.
        paid: Option<(OrderId, ProductId)>,
    },
    /// It was so before; nothing changed.
    Already(OrderStatus),
    /// No such order.
    NotFound,
    /// Its state does not allow it.
    Refused(OrderStatus),
    /// Nothing of it was paid, or all of that was paid back (accept only).
    NothingPaid,
    /// What it held went to others meanwhile (accept only).
    SoldOut,
    /// It has shares of a raffle that is sold and not drawn: those are final (refund only).
    SharesFinal,
}

impl DeedOutcome {
    const DONE: Self = Self::Done { paid: None };
}
