//! An order's state as the columns that hold its instants.

use tessera_model::order::{OrderState, OrderStatus};
use tessera_model::time::Timestamp;
use tessera_store::{Result, StoreError};

use crate::encode::At;
use crate::row::Fields;

/// The instants of a state; absent where the state has none.
#[derive(Clone, Copy, Default)]
pub(super) struct Instants {
    pub(super) hold_expires: Option<Timestamp>,
    pub(super) paid: Option<Timestamp>,
    pub(super) issued: Option<Timestamp>,
    pub(super) closed: Option<Timestamp>,
    pub(super) refund_due: Option<Timestamp>,
    pub(super) refunded: Option<Timestamp>,
}

impl Instants {
    pub(super) fn of(state: OrderState) -> Self {
        let mut at = Self { paid: state.paid_at(), issued: state.issued_at(), ..Self::default() };
        match state {
            OrderState::AwaitingPayment { hold_expires_at } => at.hold_expires = Some(hold_expires_at),
            OrderState::Expired { closed_at } | OrderState::Cancelled { closed_at } => {
                at.closed = Some(closed_at);
            }
            OrderState::RefundDue { refund_due_at, .. } => at.refund_due = Some(refund_due_at),
            OrderState::Refunded { refund_due_at, refunded_at, .. } => {
                at.refund_due = Some(refund_due_at);
                at.refunded = Some(refunded_at);
            }
            OrderState::Paid { .. } | OrderState::Backordered { .. } | OrderState::Issued { .. } => {}
        }
        at
    }

    pub(super) fn read(fields: &Fields<'_>) -> Result<Self> {
        Ok(Self {
            hold_expires: fields.optional_time("hold_expires_at")?,
            paid: fields.optional_time("paid_at")?,
            issued: fields.optional_time("issued_at")?,
            closed: fields.optional_time("closed_at")?,
            refund_due: fields.optional_time("refund_due_at")?,
            refunded: fields.optional_time("refunded_at")?,
        })
    }

    pub(super) fn state(&self, fields: &Fields<'_>) -> Result<OrderState> {
        // The schema's CHECKs keep an instant from being missing.
        let missing = || -> StoreError { fields.inconsistent("status") };
        let need = |instant: Option<Timestamp>| instant.ok_or_else(missing);
        let (paid, issued_at) = (self.paid, self.issued);
        Ok(match fields.parse("status", OrderStatus::parse)? {
            OrderStatus::AwaitingPayment => {
                OrderState::AwaitingPayment { hold_expires_at: need(self.hold_expires)? }
            }
            OrderStatus::Paid => OrderState::Paid { paid_at: need(paid)? },
            OrderStatus::Backordered => OrderState::Backordered { paid_at: need(paid)? },
            OrderStatus::Issued => OrderState::Issued { paid_at: need(paid)?, issued_at: need(issued_at)? },
            OrderStatus::Expired => OrderState::Expired { closed_at: need(self.closed)? },
            OrderStatus::Cancelled => OrderState::Cancelled { closed_at: need(self.closed)? },
            OrderStatus::RefundDue => {
                let refund_due_at = need(self.refund_due)?;
                OrderState::RefundDue { paid_at: need(paid)?, issued_at, refund_due_at }
            }
            OrderStatus::Refunded => OrderState::Refunded {
                paid_at: need(paid)?,
                issued_at,
                refund_due_at: need(self.refund_due)?,
                refunded_at: need(self.refunded)?,
            },
        })
    }

    /// The column of one instant.
    pub(super) fn column<I>(
        items: &[I],
        state: fn(&I) -> OrderState,
        of: fn(Self) -> Option<Timestamp>,
    ) -> Vec<Option<At>> {
        items.iter().map(|item| of(Self::of(state(item))).map(At)).collect()
    }
}
