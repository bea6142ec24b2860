//! Facts about accepting what was paid.

use super::*;

fn order() -> OrderId {
    OrderId::new(Timestamp::from_micros(1), [9; 10])
}

fn accepted(
    status: OrderStatus,
    paid: &[(MoneyState, i64)],
    stock: bool,
) -> Result<Vec<(MoneyState, i64)>, NotAccepted> {
    let payments =
        paid.iter().zip(1..).map(|((state, minor), n)| (id(n), Portions::from([(*state, *minor)])));
    let entries = accept(order(), status, 100, &payments.collect(), &mut || stock)?;
    Ok(entries.iter().map(|e| (e.state, e.amount)).collect())
}

#[test]
fn an_operator_may_accept_a_short_payment() {
    let moves = accepted(OrderStatus::AwaitingPayment, &[(MoneyState::Short, 99)], false);
    assert_eq!(moves, Ok(vec![(MoneyState::Short, -99), (MoneyState::Settled, 99)]));
}

#[test]
fn a_released_order_gets_no_more_of_its_money_back_than_is_due() {
    for status in [OrderStatus::Expired, OrderStatus::Cancelled] {
        let paid = [(MoneyState::RefundDue, 60), (MoneyState::RefundDue, 70)];
        let moves = accepted(status, &paid, true).unwrap();
        let settled: Vec<_> = moves.iter().filter(|(state, _)| *state == MoneyState::Settled).collect();
        assert_eq!(settled, [&(MoneyState::Settled, 60), &(MoneyState::Settled, 40)]);
    }
}

#[test]
fn what_is_refused_says_why() {
    for status in OrderStatus::ALL {
        let late = matches!(status, OrderStatus::Expired | OrderStatus::Cancelled);
        let open = late || status == OrderStatus::AwaitingPayment;
        let none = if open { NotAccepted::NothingPaid } else { NotAccepted::State(status) };
        assert_eq!(accepted(status, &[], true), Err(none), "{status}");
        assert_eq!(accepted(status, &[(MoneyState::Refunded, 100)], true), Err(none), "{status}");
        if late {
            let money = [(MoneyState::RefundDue, 100)];
            assert_eq!(accepted(status, &money, false), Err(NotAccepted::SoldOut), "{status}");
        }
    }
}
