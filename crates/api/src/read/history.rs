//! All that happened to an order, as a dispute needs it.

use tessera_model::order::{Order, OrderState};
use tessera_model::time::Timestamp;
use tessera_store::history::MoneyMoved;
use tessera_store::ledger::{Movement, MovementFilter};
use tessera_store::letters::Letter;
use tessera_store::operators::AuditEntry;
use tessera_store::{Result, Tx};

/// Rows of one sort that a history has; more are left out.
const ROWS_MAX: i64 = 1_000;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The order came to this state.
    State(&'static str),
    /// Money came to a state, or left it.
    Money(MoneyMoved),
    /// Codes moved.
    Codes(Movement),
    /// An operator did something.
    Audit(AuditEntry),
    /// A message about it could not be done.
    Letter(Letter),
}

/// All that happened to an order, oldest first.
///
/// # Errors
/// The store's.
pub async fn history(tx: &mut dyn Tx, order: &Order) -> Result<Vec<(Timestamp, Happened)>> {
    let mut all: Vec<(Timestamp, Happened)> = states(order);
    all.extend(tx.money_history(order.id, ROWS_MAX).await?.into_iter().map(|m| (m.at, Happened::Money(m))));
    let filter = MovementFilter { order: Some(order.id), ..MovementFilter::default() };
    let moved = tx.movements_list(&filter, ROWS_MAX).await?.into_iter();
    all.extend(moved.filter_map(|m| Some((m.at?, Happened::Codes(m)))));
    let done = tx.audit_of(&order.id.to_string(), ROWS_MAX).await?.into_iter();
    all.extend(done.map(|(at, entry)| (at, Happened::Audit(entry))));
    let letters = tx.letters_of(order.id).await?.into_iter();
    all.extend(letters.map(|letter| (letter.first_failed_at, Happened::Letter(letter))));
    all.sort_by_key(|(at, _)| *at);
    Ok(all)
}

fn states(order: &Order) -> Vec<(Timestamp, Happened)> {
    let (refund_due, refunded, closed) = match order.state {
        OrderState::RefundDue { refund_due_at, .. } => (Some(refund_due_at), None, None),
        OrderState::Refunded { refund_due_at, refunded_at, .. } => {
            (Some(refund_due_at), Some(refunded_at), None)
        }
        OrderState::Expired { closed_at } | OrderState::Cancelled { closed_at } => {
            (None, None, Some(closed_at))
        }
        OrderState::AwaitingPayment { .. }
        | OrderState::Paid { .. }
        | OrderState::Backordered { .. }
        | OrderState::Issued { .. } => (None, None, None),
    };
    let states = [
        ("placed", Some(order.created_at)),
        ("paid", order.state.paid_at()),
        ("issued", order.state.issued_at()),
        (order.state.status().as_str(), closed),
        ("refund_due", refund_due),
        ("refunded", refunded),
    ];
    states.into_iter().filter_map(|(word, at)| Some((at?, Happened::State(word)))).collect()
}
