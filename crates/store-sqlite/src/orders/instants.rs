//! An order's state as the columns that hold its instants.

use serde::Serialize;
use tessera_model::order::{OrderState, OrderStatus};
use tessera_model::time::Timestamp;
use tessera_store::Result;

use crate::row::Fields;

/// The instants of a state, in microseconds; absent where the state has none.
#[derive(Default, Serialize)]
pub(super) struct Instants {
    pub(super) hold_expires: Option<i64>,
    pub(super) paid: Option<i64>,
    pub(super) issued: Option<i64>,
    pub(super) closed: Option<i64>,
    pub(super) refund_due: Option<i64>,
    pub(super) refunded: Option<i64>,
}

impl Instants {
    pub(super) fn of(state: OrderState) -> Self {
        let some = |t: Timestamp| Some(t.micros());
        let mut at = Self {
            paid: state.paid_at().and_then(some),
            issued: state.issued_at().and_then(some),
            ..Self::default()
        };
        match state {
            OrderState::AwaitingPayment { hold_expires_at } => at.hold_expires = some(hold_expires_at),
            OrderState::Expired { closed_at } | OrderState::Cancelled { closed_at } => {
                at.closed = some(closed_at);
            }
            OrderState::RefundDue { refund_due_at, .. } => at.refund_due = some(refund_due_at),
            OrderState::Refunded { refund_due_at, refunded_at, .. } => {
                at.refund_due = some(refund_due_at);
                at.refunded = some(refunded_at);
            }
            OrderState::Paid { .. } | OrderState::Backordered { .. } | OrderState::Issued { .. } => {}
        }
        at
    }

    pub(super) fn read(fields: &Fields<'_>) -> Result<Self> {
        Ok(Self {
            hold_expires: fields.get("hold_expires_at")?,
            paid: fields.get("paid_at")?,
            issued: fields.get("issued_at")?,
            closed: fields.get("closed_at")?,
            refund_due: fields.get("refund_due_at")?,
            refunded: fields.get("refunded_at")?,
        })
    }

    pub(super) fn state(&self, fields: &Fields<'_>) -> Result<OrderState> {
        let status = fields.parse("status", OrderStatus::parse)?;
        super::state(status, self, fields)
    }
}
