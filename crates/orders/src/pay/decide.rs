//! Each payment decided in turn, and the set written.

use std::collections::BTreeSet;

use tessera_faults::{Break, broken};
use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::order::{OrderEvent, OrderStatus};
use tessera_model::pay::{MoneyEntry, PaymentReason, receive};
use tessera_store::orders::Advance;
use tessera_store::payments::Payment;
use tessera_store::{Result, Tx};

use super::claim::Outcomes;
use super::{Books, PayOutcome};
use crate::ledger::Moves;

/// What a set of payments writes.
#[derive(Default)]
pub(super) struct Decided {
    entries: Vec<MoneyEntry>,
    explained: Vec<(PaymentId, Option<OrderId>, Option<PaymentReason>)>,
    paid: BTreeSet<OrderId>,
    /// Those of `paid` that had been released, and claim again.
    revived: BTreeSet<OrderId>,
    /// Payments that need more locks than this set has.
    late: Vec<PaymentId>,
}

/// Decides the payments that are ours, in order.
pub(super) fn all(ours: &[&(usize, Payment)], books: &mut Books, outcomes: &mut Outcomes) -> Decided {
    let mut decided = Decided::default();
    for (at, payment) in ours {
        outcomes[*at] = Some(one(payment, books, &mut decided));
    }
    decided
}

fn one(payment: &Payment, books: &mut Books, decided: &mut Decided) -> PayOutcome {
    let order = payment.order().and_then(|id| books.orders.get(&id));
    let account = order.and_then(|o| books.accounts.get_mut(&o.id));
    let released = |status| matches!(status, OrderStatus::Expired | OrderStatus::Cancelled);
    let was_released = account.as_ref().is_some_and(|a| released(a.status));
    if was_released && books.shelf.is_none() {
        decided.late.push(payment.id);
        return PayOutcome::Late;
    }
    let matched = account.as_ref().filter(|a| a.due.currency == payment.amount.currency).map(|a| a.order);
    let (shelf, lines) = (&mut books.shelf, &books.lines);
    let mut may_honour = || match (shelf.as_mut(), order) {
        (Some(shelf), Some(order)) => {
            shelf.honour(&order.customer, lines.get(&order.id).map_or(&[], Vec::as_slice))
        }
        (None, _) | (_, None) => false,
    };
    let decision = receive(payment.id, payment.amount, account, &mut may_honour);
    if let Some(reason) = decision.reason {
        tracing::warn!(payment.id = %payment.id, reason = reason.as_str(), "a payment needs a hand");
    }
    decided.entries.extend(decision.entries);
    decided.explained.push((payment.id, matched, decision.reason));
    let paid = matched.filter(|_| decision.event == Some(OrderEvent::Paid));
    if let Some(order) = paid {
        decided.paid.insert(order);
        if was_released {
            decided.revived.insert(order);
        }
    }
    let routed = paid.and_then(|order| Some((order, *books.products.get(&order)?)));
    PayOutcome::Taken { outcome: decision.outcome, paid: routed, reason: decision.reason }
}

/// Writes what was decided.
pub(super) async fn write(tx: &mut dyn Tx, decided: Decided, books: &Books) -> Result<()> {
    if !decided.late.is_empty() {
        tx.payments_unclaim(&decided.late).await?;
    }
    if decided.explained.is_empty() {
        return Ok(());
    }
    let (now, mut moves, mut advances) = (tx.now(), Moves::default(), vec![]);
    for order in decided.paid.iter().filter_map(|id| books.orders.get(id)) {
        if let Ok(state) = order.state.after(OrderEvent::Paid, now) {
            advances.push(Advance { id: order.id, version: order.version, state });
        }
        if decided.revived.contains(&order.id) && !broken(Break::LatePaymentRaisesNoClaim) {
            moves.add(&order.customer, books.lines.get(&order.id).map_or(&[], Vec::as_slice), 1);
        }
    }
    tx.payments_explain(&decided.explained).await?;
    tx.money_append(&decided.entries).await?;
    if !advances.is_empty() {
        tx.orders_advance(&advances).await?;
    }
    moves.write(tx).await
}
