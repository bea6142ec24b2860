//! Facts about this module.

use super::*;
use crate::money::Currency;
use crate::time::Timestamp;
use proptest::prelude::*;

mod accepting;
mod refunding;

fn cny() -> Currency {
    Currency::parse("CNY").unwrap()
}

fn id(n: u8) -> PaymentId {
    PaymentId::new(Timestamp::from_micros(1), [n; 10])
}

fn account(status: OrderStatus, due: i64) -> Account {
    let order = OrderId::new(Timestamp::from_micros(1), [9; 10]);
    Account { order, status, due: Money::new(due, cny()), short: BTreeMap::new() }
}

fn receive_in(account: &mut Account, n: u8, minor: i64, honour: bool) -> PaymentDecision {
    receive(id(n), Money::new(minor, cny()), Some(account), &mut || honour)
}

fn states(decision: &PaymentDecision) -> Vec<(MoneyState, i64)> {
    decision.entries.iter().map(|e| (e.state, e.amount)).collect()
}

/// The design's table for one payment against every state, less, equal and more than due.
#[test]
fn the_table_of_money_holds_in_every_state() {
    use MoneyState as M;
    use PaymentOutcome as O;
    for status in OrderStatus::ALL {
        for (minor, honour) in [60, 100, 130].into_iter().flat_map(|m| [(m, true), (m, false)]) {
            let mut account = account(status, 100);
            let decision = receive_in(&mut account, 1, minor, honour);
            let late = matches!(status, OrderStatus::Expired | OrderStatus::Cancelled);
            let payable = status == OrderStatus::AwaitingPayment || (late && honour);
            let (outcome, portions) = match minor {
                60 if status == OrderStatus::AwaitingPayment => (O::Short, vec![(M::Short, 60)]),
                100 if payable => (O::Paid, vec![(M::Settled, 100)]),
                130 if payable => (O::Over, vec![(M::Settled, 100), (M::RefundDue, 30)]),
                all => (O::RefundDue, vec![(M::RefundDue, all)]),
            };
            assert_eq!(decision.outcome, outcome, "{status} {minor} {honour}");
            assert_eq!(states(&decision), portions, "{status} {minor} {honour}");
            let pays = matches!(outcome, O::Paid | O::Over);
            assert_eq!(decision.event, pays.then_some(OrderEvent::Paid));
            assert_eq!(decision.reason.is_some(), matches!(outcome, O::Over | O::RefundDue));
        }
    }
}

#[test]
fn short_payments_of_one_order_add_up() {
    let mut account = account(OrderStatus::AwaitingPayment, 100);
    assert_eq!(receive_in(&mut account, 1, 40, true).outcome, PaymentOutcome::Short);
    assert_eq!(receive_in(&mut account, 2, 40, true).outcome, PaymentOutcome::Short);
    let last = receive_in(&mut account, 3, 30, true);
    assert_eq!(last.outcome, PaymentOutcome::Over);
    let settled: i64 = last.entries.iter().filter(|e| e.state == MoneyState::Settled).map(|e| e.amount).sum();
    let short: i64 = last.entries.iter().filter(|e| e.state == MoneyState::Short).map(|e| e.amount).sum();
    assert_eq!((settled, short), (100, -80));
    assert!(account.short.is_empty());
}

#[test]
fn the_wrong_currency_is_never_matched_by_amount() {
    let mut account = account(OrderStatus::AwaitingPayment, 100);
    let euro = Money::new(100, Currency::parse("EUR").unwrap());
    let decision = receive(id(1), euro, Some(&mut account), &mut || true);
    assert_eq!(decision.outcome, PaymentOutcome::Unmatched);
    assert_eq!(decision.reason, Some(PaymentReason::WrongCurrency));
    assert_eq!(account.status, OrderStatus::AwaitingPayment);
}

#[test]
fn the_second_payment_of_a_set_sees_the_first() {
    let mut account = account(OrderStatus::AwaitingPayment, 100);
    assert_eq!(receive_in(&mut account, 1, 100, true).outcome, PaymentOutcome::Paid);
    assert_eq!(receive_in(&mut account, 2, 100, true).outcome, PaymentOutcome::RefundDue);
}

#[test]
fn an_expired_orders_short_money_is_to_be_paid_back() {
    let mut account = account(OrderStatus::AwaitingPayment, 100);
    receive_in(&mut account, 1, 40, true);
    let entries = release_short(&mut account);
    let moves: Vec<_> = entries.iter().map(|e| (e.state, e.amount)).collect();
    assert_eq!(moves, [(MoneyState::Short, -40), (MoneyState::RefundDue, 40)]);
}

#[test]
fn a_whole_refund_takes_settled_and_short() {
    let order = OrderId::new(Timestamp::from_micros(1), [9; 10]);
    let mut payments = BTreeMap::from([(id(1), Portions::from([(MoneyState::Settled, 70)]))]);
    assert!(!nothing_left(&payments));
    let entries = refund_order(order, &payments);
    assert_eq!(entries.iter().map(|e| e.amount).sum::<i64>(), 0);
    assert_eq!(entries.last().map(|e| (e.state, e.amount)), Some((MoneyState::RefundDue, 70)));
    payments.insert(id(1), Portions::from([(MoneyState::Refunded, 70)]));
    assert!(nothing_left(&payments));
}

proptest! {
    #[test]
    fn a_payments_entries_sum_to_what_arrived_and_no_state_falls_below_zero(
        due in 1_i64..200,
        amounts in proptest::collection::vec(1_i64..150, 1..12),
        honour in any::<bool>(),
        expire_after in 0_usize..12,
    ) {
        let mut account = account(OrderStatus::AwaitingPayment, due);
        let mut entries = vec![];
        for (n, minor) in amounts.iter().enumerate() {
            if n == expire_after && account.status == OrderStatus::AwaitingPayment {
                entries.extend(release_short(&mut account));
                account.status = OrderStatus::Expired;
            }
            entries.extend(receive_in(&mut account, u8::try_from(n).unwrap(), *minor, honour).entries);
        }
        let mut settled = 0;
        for (n, minor) in amounts.iter().enumerate() {
            let mut portions = Portions::new();
            for e in entries.iter().filter(|e| e.payment == id(u8::try_from(n).unwrap())) {
                *portions.entry(e.state).or_default() += e.amount;
            }
            prop_assert!(portions.values().all(|a| *a >= 0));
            prop_assert_eq!(portions.values().sum::<i64>(), *minor);
            settled += portions.get(&MoneyState::Settled).copied().unwrap_or(0);
        }
        prop_assert_eq!(settled, if account.status == OrderStatus::Paid { due } else { 0 });
    }
}
