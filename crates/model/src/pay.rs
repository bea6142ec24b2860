//! Payments: where each unit of money that arrives goes, and what it does to its order.
//!
//! Money is a ledger of entries. A payment's entries sum to what arrived and no state of it is ever below
//! zero; a move is two entries, minus in the old state and plus in the new.

use std::collections::BTreeMap;

use crate::ids::{OrderId, PaymentId};
use crate::money::Money;
use crate::order::{OrderEvent, OrderStatus};

mod accept;
mod refund;
mod refund_told;

pub use accept::{NotAccepted, accept};
pub use refund::{Portions, nothing_left, refund_order, refund_shares};
pub use refund_told::{KnownRefund, RefundVerdict, Teller, Told, refund_told};

#[cfg(test)]
mod tests;

/// Where a unit of money is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MoneyState {
    /// It paid for an order.
    Settled,
    /// It is less than its order's price; the order still waits for the rest.
    Short,
    /// It is to be paid back.
    RefundDue,
    /// It was paid back.
    Refunded,
    /// It belongs to no order of ours.
    Unmatched,
}

impl MoneyState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Settled, Self::Short, Self::RefundDue, Self::Refunded, Self::Unmatched];

    /// The word in SQL and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::Short => "short",
            Self::RefundDue => "refund_due",
            Self::Refunded => "refunded",
            Self::Unmatched => "unmatched",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }
}

/// One line of the ledger of money. The currency is the payment's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoneyEntry {
    /// The payment whose money this is.
    pub payment: PaymentId,
    /// The order it stands with; none when unmatched.
    pub order: Option<OrderId>,
    /// Minor units; negative when it leaves the state.
    pub amount: i64,
    /// The state it enters or leaves.
    pub state: MoneyState,
}

impl MoneyEntry {
    /// The two entries that move `amount` of a payment from one state to another.
    pub fn moved(
        payment: PaymentId,
        order: Option<OrderId>,
        amount: i64,
        from: MoneyState,
        to: MoneyState,
    ) -> [Self; 2] {
        [Self { payment, order, amount: -amount, state: from }, Self { payment, order, amount, state: to }]
    }
}

/// What a payment did, in the word its provider is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentOutcome {
    /// The order is paid by it.
    Paid,
    /// The same payment was known; nothing changed.
    Duplicate,
    /// Less than is due; the order waits for the rest.
    Short,
    /// The order is paid and something is to be paid back.
    Over,
    /// All of it is to be paid back.
    RefundDue,
    /// No order of ours takes it.
    Unmatched,
    /// Kept for an operator; no order moved.
    Recorded,
    /// Of no consequence.
    Ignored,
}

impl PaymentOutcome {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Duplicate => "duplicate",
            Self::Short => "short",
            Self::Over => "over",
            Self::RefundDue => "refund_due",
            Self::Unmatched => "unmatched",
            Self::Recorded => "recorded",
            Self::Ignored => "ignored",
        }
    }
}

/// Why a payment needs a hand. Stored with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentReason {
    /// No order has this id.
    UnknownOrder,
    /// The order is in another currency.
    WrongCurrency,
    /// More than was due.
    Over,
    /// The order was paid already.
    SecondPayment,
    /// The order's hold had ended, or it was cancelled, and stock or limits no longer allow it.
    TooLate,
    /// Less than was due, after the hold ended.
    ShortTooLate,
}

impl PaymentReason {
    /// Every reason.
    pub const ALL: [Self; 6] = [
        Self::UnknownOrder,
        Self::WrongCurrency,
        Self::Over,
        Self::SecondPayment,
        Self::TooLate,
        Self::ShortTooLate,
    ];

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.as_str() == text)
    }

    /// The word in SQL and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownOrder => "unknown_order",
            Self::WrongCurrency => "wrong_currency",
            Self::Over => "over",
            Self::SecondPayment => "second_payment",
            Self::TooLate => "too_late",
            Self::ShortTooLate => "short_too_late",
        }
    }
}

/// What decides a payment: its order, locked, and the short money that stands with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The order.
    pub order: OrderId,
    /// Where it is.
    pub status: OrderStatus,
    /// What is due.
    pub due: Money,
    /// Earlier payments that were short, with what of them still is.
    pub short: BTreeMap<PaymentId, i64>,
}

/// What to write for one payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentDecision {
    /// The ledger's new lines.
    pub entries: Vec<MoneyEntry>,
    /// What happens to the order.
    pub event: Option<OrderEvent>,
    /// What to answer.
    pub outcome: PaymentOutcome,
    /// Set when a person has to look.
    pub reason: Option<PaymentReason>,
}

/// Whether an expired or cancelled order may still be honoured; asked only for a payment that would pay it.
pub type MayHonour<'a> = dyn FnMut() -> bool + 'a;

/// Decides a settled payment: where its money goes and whether its order is paid.
///
/// The account, if there is one, is brought up to date, so that the next payment of the set sees it.
pub fn receive(
    payment: PaymentId,
    amount: Money,
    account: Option<&mut Account>,
    may_honour: &mut MayHonour<'_>,
) -> PaymentDecision {
    let Some(account) = account else {
        return unmatched(payment, amount, PaymentReason::UnknownOrder);
    };
    if account.due.currency != amount.currency {
        return unmatched(payment, amount, PaymentReason::WrongCurrency);
    }
    match account.status {
        OrderStatus::AwaitingPayment => in_time(payment, amount.minor, account),
        OrderStatus::Expired | OrderStatus::Cancelled => late(payment, amount.minor, account, may_honour),
        OrderStatus::Paid
        | OrderStatus::Backordered
        | OrderStatus::Issued
        | OrderStatus::RefundDue
        | OrderStatus::Refunded => refund_due(payment, amount.minor, account, PaymentReason::SecondPayment),
    }
}

fn unmatched(payment: PaymentId, amount: Money, reason: PaymentReason) -> PaymentDecision {
    let entry = MoneyEntry { payment, order: None, amount: amount.minor, state: MoneyState::Unmatched };
    PaymentDecision {
        entries: vec![entry],
        event: None,
        outcome: PaymentOutcome::Unmatched,
        reason: Some(reason),
    }
}

fn refund_due(payment: PaymentId, minor: i64, account: &Account, reason: PaymentReason) -> PaymentDecision {
    let entry = entry(payment, account, minor, MoneyState::RefundDue);
    PaymentDecision {
        entries: vec![entry],
        event: None,
        outcome: PaymentOutcome::RefundDue,
        reason: Some(reason),
    }
}

fn entry(payment: PaymentId, account: &Account, amount: i64, state: MoneyState) -> MoneyEntry {
    MoneyEntry { payment, order: Some(account.order), amount, state }
}

fn in_time(payment: PaymentId, minor: i64, account: &mut Account) -> PaymentDecision {
    let before: i64 = account.short.values().sum();
    if before.saturating_add(minor) < account.due.minor {
        account.short.insert(payment, minor);
        let entries = vec![entry(payment, account, minor, MoneyState::Short)];
        return PaymentDecision { entries, event: None, outcome: PaymentOutcome::Short, reason: None };
    }
    let mut entries = move_short(account, MoneyState::Settled);
    entries.extend(settle(payment, minor, account.due.minor - before, account));
    paid(account, entries)
}

fn late(payment: PaymentId, minor: i64, account: &mut Account, may: &mut MayHonour<'_>) -> PaymentDecision {
    if minor < account.due.minor {
        return refund_due(payment, minor, account, PaymentReason::ShortTooLate);
    }
    if !may() {
        return refund_due(payment, minor, account, PaymentReason::TooLate);
    }
    let entries = settle(payment, minor, account.due.minor, account);
    paid(account, entries)
}

fn paid(account: &mut Account, entries: Vec<MoneyEntry>) -> PaymentDecision {
    account.status = OrderStatus::Paid;
    let over = entries.iter().any(|e| e.state == MoneyState::RefundDue);
    let (outcome, reason) = match over {
        true => (PaymentOutcome::Over, Some(PaymentReason::Over)),
        false => (PaymentOutcome::Paid, None),
    };
    PaymentDecision { entries, event: Some(OrderEvent::Paid), outcome, reason }
}

/// What is due of a payment settles, the rest is to be paid back.
fn settle(payment: PaymentId, minor: i64, due: i64, account: &Account) -> Vec<MoneyEntry> {
    [(due, MoneyState::Settled), (minor - due, MoneyState::RefundDue)]
        .into_iter()
        .filter(|(amount, _)| *amount > 0)
        .map(|(amount, state)| entry(payment, account, amount, state))
        .collect()
}

/// Short payments of an order whose hold ended or that was cancelled: all of them are to be paid back.
pub fn release_short(account: &mut Account) -> Vec<MoneyEntry> {
    move_short(account, MoneyState::RefundDue)
}

fn move_short(account: &mut Account, to: MoneyState) -> Vec<MoneyEntry> {
    let order = Some(account.order);
    std::mem::take(&mut account.short)
        .into_iter()
        .flat_map(|(payment, amount)| MoneyEntry::moved(payment, order, amount, MoneyState::Short, to))
        .collect()
}
