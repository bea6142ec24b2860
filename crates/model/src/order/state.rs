//! States, events and the moves between them.

use super::OrderStatus;
use crate::time::Timestamp;

/// A state with the instants that are true in it, and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderState {
    /// See [`OrderStatus::AwaitingPayment`].
    AwaitingPayment {
        /// When the claim may be released.
        hold_expires_at: Timestamp,
    },
    /// See [`OrderStatus::Paid`].
    Paid {
        /// When Tessera took the payment.
        paid_at: Timestamp,
    },
    /// See [`OrderStatus::Backordered`].
    Backordered {
        /// When Tessera took the payment; its place in the waitlist.
        paid_at: Timestamp,
    },
    /// See [`OrderStatus::Issued`].
    Issued {
        /// When Tessera took the payment.
        paid_at: Timestamp,
        /// When the codes were assigned.
        issued_at: Timestamp,
    },
    /// See [`OrderStatus::Expired`].
    Expired {
        /// When the claim was released.
        closed_at: Timestamp,
    },
    /// See [`OrderStatus::Cancelled`].
    Cancelled {
        /// When it was cancelled.
        closed_at: Timestamp,
    },
    /// See [`OrderStatus::RefundDue`].
    RefundDue {
        /// When Tessera took the payment.
        paid_at: Timestamp,
        /// When the codes were assigned, if they were.
        issued_at: Option<Timestamp>,
        /// When the refund was ordered.
        refund_due_at: Timestamp,
    },
    /// See [`OrderStatus::Refunded`].
    Refunded {
        /// When Tessera took the payment.
        paid_at: Timestamp,
        /// When the codes were assigned, if they were.
        issued_at: Option<Timestamp>,
        /// When the refund was ordered.
        refund_due_at: Timestamp,
        /// When the last of the money was paid back.
        refunded_at: Timestamp,
    },
}

/// What can happen to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderEvent {
    /// Payments reached the amount due; late ones included, once stock and limits allowed them.
    Paid,
    /// An operator accepted what was paid as enough.
    Accepted,
    /// The issuer found too little stock.
    Backordered,
    /// The issuer assigned all its codes.
    Issued,
    /// Its hold ended.
    Expired,
    /// The buyer or an operator cancelled it.
    Cancelled,
    /// An operator ordered its money back.
    RefundOrdered,
    /// Nothing of its money is left to pay back.
    RefundCompleted,
}

impl OrderEvent {
    /// Every event.
    pub const ALL: [Self; 8] = [
        Self::Paid,
        Self::Accepted,
        Self::Backordered,
        Self::Issued,
        Self::Expired,
        Self::Cancelled,
        Self::RefundOrdered,
        Self::RefundCompleted,
    ];
}

/// A move that the state does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an order that is {from} cannot take the event {event:?}")]
pub struct RefusedTransition {
    /// The state it was in.
    pub from: OrderStatus,
    /// What was tried.
    pub event: OrderEvent,
}

impl OrderState {
    /// The state's name.
    pub const fn status(self) -> OrderStatus {
        match self {
            Self::AwaitingPayment { .. } => OrderStatus::AwaitingPayment,
            Self::Paid { .. } => OrderStatus::Paid,
            Self::Backordered { .. } => OrderStatus::Backordered,
            Self::Issued { .. } => OrderStatus::Issued,
            Self::Expired { .. } => OrderStatus::Expired,
            Self::Cancelled { .. } => OrderStatus::Cancelled,
            Self::RefundDue { .. } => OrderStatus::RefundDue,
            Self::Refunded { .. } => OrderStatus::Refunded,
        }
    }

    /// When Tessera took the payment, in the states that have been paid.
    pub const fn paid_at(self) -> Option<Timestamp> {
        match self {
            Self::AwaitingPayment { .. } | Self::Expired { .. } | Self::Cancelled { .. } => None,
            Self::Paid { paid_at }
            | Self::Backordered { paid_at }
            | Self::Issued { paid_at, .. }
            | Self::RefundDue { paid_at, .. }
            | Self::Refunded { paid_at, .. } => Some(paid_at),
        }
    }

    /// When the codes were assigned.
    pub const fn issued_at(self) -> Option<Timestamp> {
        match self {
            Self::Issued { issued_at, .. } => Some(issued_at),
            Self::RefundDue { issued_at, .. } | Self::Refunded { issued_at, .. } => issued_at,
            Self::AwaitingPayment { .. }
            | Self::Paid { .. }
            | Self::Backordered { .. }
            | Self::Expired { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// The state after `event` at `now`.
    ///
    /// # Errors
    /// [`RefusedTransition`] names the state and the event.
    pub fn after(self, event: OrderEvent, now: Timestamp) -> Result<Self, RefusedTransition> {
        use OrderEvent as E;
        let refused = Err(RefusedTransition { from: self.status(), event });
        match (self, event) {
            (
                Self::AwaitingPayment { .. } | Self::Expired { .. } | Self::Cancelled { .. },
                E::Paid | E::Accepted,
            ) => Ok(Self::Paid { paid_at: now }),
            (Self::AwaitingPayment { .. }, E::Expired) => Ok(Self::Expired { closed_at: now }),
            (Self::AwaitingPayment { .. }, E::Cancelled) => Ok(Self::Cancelled { closed_at: now }),
            (Self::Paid { paid_at }, E::Backordered) => Ok(Self::Backordered { paid_at }),
            (Self::Paid { paid_at } | Self::Backordered { paid_at }, E::Issued) => {
                Ok(Self::Issued { paid_at, issued_at: now })
            }
            (Self::Paid { paid_at } | Self::Backordered { paid_at }, E::RefundOrdered) => {
                Ok(Self::RefundDue { paid_at, issued_at: None, refund_due_at: now })
            }
            (Self::Issued { paid_at, issued_at }, E::RefundOrdered) => {
                Ok(Self::RefundDue { paid_at, issued_at: Some(issued_at), refund_due_at: now })
            }
            (Self::RefundDue { paid_at, issued_at, refund_due_at }, E::RefundCompleted) => {
                Ok(Self::Refunded { paid_at, issued_at, refund_due_at, refunded_at: now })
            }
            (Self::AwaitingPayment { .. }, E::Backordered | E::Issued | E::RefundOrdered)
            | (
                Self::Expired { .. } | Self::Cancelled { .. },
                E::Backordered | E::Issued | E::Expired | E::Cancelled | E::RefundOrdered,
            )
            | (Self::Paid { .. }, E::Paid | E::Accepted | E::Expired | E::Cancelled)
            | (
                Self::Backordered { .. },
                E::Paid | E::Accepted | E::Backordered | E::Expired | E::Cancelled,
            )
            | (
                Self::Issued { .. },
                E::Paid | E::Accepted | E::Backordered | E::Issued | E::Expired | E::Cancelled,
            )
            | (
                Self::RefundDue { .. },
                E::Paid
                | E::Accepted
                | E::Backordered
                | E::Issued
                | E::Expired
                | E::Cancelled
                | E::RefundOrdered,
            )
            | (Self::Refunded { .. }, _)
            | (_, E::RefundCompleted) => refused,
        }
    }
}
