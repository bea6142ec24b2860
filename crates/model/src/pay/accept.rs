//! An operator accepts what was paid for an order as enough.

use std::collections::BTreeMap;

use super::{MoneyEntry, MoneyState, Portions};
use crate::ids::{OrderId, PaymentId};
use crate::order::OrderStatus;

/// Why an order cannot be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAccepted {
    /// It is paid, or its money is on its way back as a whole.
    State(OrderStatus),
    /// Nothing of it was paid, or all of that was paid back.
    NothingPaid,
    /// It was released, and what it held went to others.
    SoldOut,
}

/// Decides an acceptance: the money that settles, never more than is due.
///
/// Short money of an order that still waits settles. An order that was released has its money back from refund due,
/// the earliest payment first; what is above the price stays there. `may_admit` says whether there is stock for it, and
/// is asked last.
///
/// # Errors
/// [`NotAccepted`] by cause.
pub fn accept(
    order: OrderId,
    status: OrderStatus,
    due: i64,
    payments: &BTreeMap<PaymentId, Portions>,
    may_admit: &mut dyn FnMut() -> bool,
) -> Result<Vec<MoneyEntry>, NotAccepted> {
    let from = match status {
        OrderStatus::AwaitingPayment => MoneyState::Short,
        OrderStatus::Expired | OrderStatus::Cancelled => MoneyState::RefundDue,
        OrderStatus::Paid
        | OrderStatus::Backordered
        | OrderStatus::Issued
        | OrderStatus::RefundDue
        | OrderStatus::Refunded => return Err(NotAccepted::State(status)),
    };
    let (mut left, mut entries) = (due, vec![]);
    for (payment, portions) in payments {
        let settles = portions.get(&from).copied().unwrap_or(0).min(left);
        if settles > 0 {
            entries.extend(MoneyEntry::moved(*payment, Some(order), settles, from, MoneyState::Settled));
            left -= settles;
        }
    }
    if entries.is_empty() {
        return Err(NotAccepted::NothingPaid);
    }
    let admitted = from == MoneyState::Short || may_admit();
    if admitted { Ok(entries) } else { Err(NotAccepted::SoldOut) }
}
