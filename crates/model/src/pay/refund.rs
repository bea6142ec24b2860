//! Money on its way back.

use std::collections::BTreeMap;

use super::{MoneyEntry, MoneyState};
use crate::ids::{OrderId, PaymentId};

/// How much of one payment is in each state; states it has nothing in are absent.
pub type Portions = BTreeMap<MoneyState, i64>;

/// The whole order's money is to be paid back: settled and short of each payment become refund due.
pub fn refund_order(order: OrderId, payments: &BTreeMap<PaymentId, Portions>) -> Vec<MoneyEntry> {
    let of = |payment: PaymentId, portions: &Portions, state: MoneyState| {
        let amount = portions.get(&state).copied().unwrap_or(0);
        (amount > 0).then(|| MoneyEntry::moved(payment, Some(order), amount, state, MoneyState::RefundDue))
    };
    payments
        .iter()
        .flat_map(|(payment, portions)| {
            [MoneyState::Settled, MoneyState::Short].map(|state| of(*payment, portions, state))
        })
        .flatten()
        .flatten()
        .collect()
}

/// A part of an order's money is to be paid back: `due` of what is settled, payment by payment.
pub fn refund_shares(order: OrderId, payments: &BTreeMap<PaymentId, Portions>, due: i64) -> Vec<MoneyEntry> {
    let mut left = due.max(0);
    let mut entries = vec![];
    for (payment, portions) in payments {
        let take = portions.get(&MoneyState::Settled).copied().unwrap_or(0).min(left);
        if take > 0 {
            let (from, to) = (MoneyState::Settled, MoneyState::RefundDue);
            entries.extend(MoneyEntry::moved(*payment, Some(order), take, from, to));
            left -= take;
        }
    }
    entries
}

/// Takes `amount` of a payment out of these states, the first first, and never more than is there.
///
/// Returns the entries and how much of `amount` found nothing to leave. The portions are brought up to date.
pub(super) fn take(
    payment: PaymentId,
    order: Option<OrderId>,
    portions: &mut Portions,
    amount: i64,
    from: &[MoneyState],
) -> (Vec<MoneyEntry>, i64) {
    let (mut left, mut entries) = (amount.max(0), vec![]);
    for state in from {
        let there = portions.entry(*state).or_default();
        let moved = (*there).min(left);
        if moved > 0 {
            *there -= moved;
            left -= moved;
            entries.extend(MoneyEntry::moved(payment, order, moved, *state, MoneyState::Refunded));
        }
    }
    *portions.entry(MoneyState::Refunded).or_default() += amount.max(0) - left;
    portions.retain(|_, minor| *minor != 0);
    (entries, left)
}

/// Whether a `refund_due` order is `refunded`: none of its money is left to pay back.
pub fn nothing_left(payments: &BTreeMap<PaymentId, Portions>) -> bool {
    payments.values().flatten().all(|(state, amount)| match state {
        MoneyState::Refunded | MoneyState::Unmatched => true,
        MoneyState::Settled | MoneyState::Short | MoneyState::RefundDue => *amount == 0,
    })
}
