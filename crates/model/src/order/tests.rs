//! Facts about this module.

use super::*;

const T: Timestamp = Timestamp::from_micros(1_000);
const NOW: Timestamp = Timestamp::from_micros(2_000);

fn states() -> [OrderState; 8] {
    [
        OrderState::AwaitingPayment { hold_expires_at: T },
        OrderState::Paid { paid_at: T },
        OrderState::Backordered { paid_at: T },
        OrderState::Issued { paid_at: T, issued_at: T },
        OrderState::Expired { closed_at: T },
        OrderState::Cancelled { closed_at: T },
        OrderState::RefundDue { paid_at: T, issued_at: None, refund_due_at: T },
        OrderState::Refunded { paid_at: T, issued_at: None, refund_due_at: T, refunded_at: T },
    ]
}

/// The design's list of moves, written down a second time.
fn allowed(from: OrderStatus, event: OrderEvent) -> Option<OrderStatus> {
    use OrderEvent as E;
    use OrderStatus as S;
    let to = match (event, from) {
        (E::Paid | E::Accepted, S::AwaitingPayment | S::Expired | S::Cancelled) => S::Paid,
        (E::Backordered, S::Paid) => S::Backordered,
        (E::Issued, S::Paid | S::Backordered) => S::Issued,
        (E::Expired, S::AwaitingPayment) => S::Expired,
        (E::Cancelled, S::AwaitingPayment) => S::Cancelled,
        (E::RefundOrdered, S::Paid | S::Backordered | S::Issued) => S::RefundDue,
        (E::RefundCompleted, S::RefundDue) => S::Refunded,
        _ => return None,
    };
    Some(to)
}

#[test]
fn every_event_in_every_state_moves_as_the_design_says_or_is_refused_by_name() {
    for state in states() {
        for event in OrderEvent::ALL {
            let after = state.after(event, NOW);
            assert_eq!(
                after.map(OrderState::status).ok(),
                allowed(state.status(), event),
                "{state:?} {event:?}"
            );
            if let Err(refused) = after {
                assert_eq!(refused, RefusedTransition { from: state.status(), event });
            }
        }
    }
}

#[test]
fn the_instant_of_payment_outlives_every_later_state() {
    let paid = OrderState::AwaitingPayment { hold_expires_at: T }.after(OrderEvent::Paid, NOW).unwrap();
    let issued = paid.after(OrderEvent::Issued, NOW).unwrap();
    let due = issued.after(OrderEvent::RefundOrdered, NOW).unwrap();
    let refunded = due.after(OrderEvent::RefundCompleted, NOW).unwrap();
    for state in [paid, issued, due, refunded] {
        assert_eq!(state.paid_at(), Some(NOW));
    }
    assert_eq!(refunded.issued_at(), Some(NOW));
}

#[test]
fn a_status_reads_back_from_its_word() {
    for status in OrderStatus::ALL {
        assert_eq!(OrderStatus::parse(status.as_str()), Some(status));
    }
    assert_eq!(OrderStatus::parse("shipped"), None);
}

#[test]
fn pending_states_are_those_that_claim() {
    let pending: Vec<_> = OrderStatus::ALL.into_iter().filter(|s| !s.is_final()).collect();
    assert_eq!(pending, [OrderStatus::AwaitingPayment, OrderStatus::Paid, OrderStatus::Backordered]);
}
