//! Orders that came too late for their raffle: their money is to be paid back.

use std::collections::BTreeMap;

use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::order::{Order, OrderEvent};
use tessera_model::pay::{MoneyEntry, Portions, nothing_left, refund_order};
use tessera_model::time::Timestamp;
use tessera_store::orders::Advance;
use tessera_store::payments::Portion;
use tessera_store::{Result, Tx};

/// Where the money of each order's payments is.
pub(crate) fn sums(portions: Vec<Portion>) -> BTreeMap<OrderId, BTreeMap<PaymentId, Portions>> {
    let mut sums: BTreeMap<OrderId, BTreeMap<PaymentId, Portions>> = BTreeMap::new();
    for portion in portions {
        let payment = sums.entry(portion.order).or_default().entry(portion.payment).or_default();
        *payment.entry(portion.state).or_default() += portion.minor;
    }
    sums
}

/// The order's money is to be paid back. One that has none left, as it was free or paid back before, is refunded.
pub(crate) fn paid_back(
    order: &Order,
    money: Option<&BTreeMap<PaymentId, Portions>>,
    now: Timestamp,
) -> Option<Advance> {
    let due = order.state.after(OrderEvent::RefundOrdered, now).ok()?;
    let state = match money.is_none_or(nothing_left) {
        true => due.after(OrderEvent::RefundCompleted, now).ok()?,
        false => due,
    };
    Some(Advance { id: order.id, version: order.version, state })
}

/// Makes the whole money of these orders refund due; returns their next states.
pub(crate) async fn pay_back(
    tx: &mut dyn Tx,
    over: &[OrderId],
    orders: &BTreeMap<OrderId, Order>,
) -> Result<Vec<Advance>> {
    let sums = sums(tx.money_of(over).await?);
    let entries: Vec<MoneyEntry> =
        sums.iter().flat_map(|(order, payments)| refund_order(*order, payments)).collect();
    if !entries.is_empty() {
        tx.money_append(&entries).await?;
    }
    let now = tx.now();
    let advance = |order: &Order| paid_back(order, sums.get(&order.id), now);
    Ok(over.iter().filter_map(|id| orders.get(id)).filter_map(advance).collect())
}
