//! Facts about refunds that are told.

use super::*;
use crate::text::Reference;

fn told(teller: Teller, name: &str, minor: impl Into<Option<i64>>) -> Told {
    Told { teller, reference: Reference::parse(name).unwrap(), minor: minor.into() }
}

/// A payment whose money is 100 settled and 30 to be paid back, and what is known of its refunds.
struct Paid {
    portions: Portions,
    known: Vec<KnownRefund>,
}

impl Paid {
    fn new() -> Self {
        let portions = Portions::from([(MoneyState::Settled, 100), (MoneyState::RefundDue, 30)]);
        Self { portions, known: vec![] }
    }

    fn tell(&mut self, told: &Told) -> RefundVerdict {
        refund_told(id(1), None, told, &mut self.portions, &mut self.known)
    }

    /// How much moved.
    fn moves(&mut self, told: &Told) -> i64 {
        match self.tell(told) {
            RefundVerdict::New { refund, entries } => {
                let out: i64 =
                    entries.iter().filter(|e| e.state == MoneyState::Refunded).map(|e| e.amount).sum();
                assert_eq!((entries.iter().map(|e| e.amount).sum::<i64>(), out), (0, refund.moved));
                out
            }
            other => panic!("not new: {other:?}"),
        }
    }

    fn of(&self, state: MoneyState) -> i64 {
        self.portions.get(&state).copied().unwrap_or(0)
    }
}

#[test]
fn a_notice_takes_refund_due_first_and_never_more_than_is_there() {
    let mut paid = Paid::new();
    assert_eq!(paid.moves(&told(Teller::Notice, "m1", 40)), 40);
    assert_eq!((paid.of(MoneyState::RefundDue), paid.of(MoneyState::Settled)), (0, 90));
    assert_eq!(paid.moves(&told(Teller::Notice, "m2", 100)), 90);
    assert_eq!(paid.moves(&told(Teller::Notice, "m3", 1)), 0);
    assert_eq!(paid.portions, Portions::from([(MoneyState::Refunded, 130)]));
}

#[test]
fn an_operator_confirms_no_more_than_is_to_be_paid_back() {
    let mut paid = Paid::new();
    let confirm = |minor| told(Teller::Operator, "r", minor);
    for minor in [31, 130, 0, -1] {
        assert_eq!(paid.tell(&confirm(minor)), RefundVerdict::TooMuch { there: 30 }, "{minor}");
    }
    assert_eq!(paid.moves(&told(Teller::Operator, "r1", 10)), 10);
    assert_eq!(paid.moves(&told(Teller::Operator, "r2", None)), 20);
    assert_eq!(paid.tell(&told(Teller::Operator, "r3", None)), RefundVerdict::TooMuch { there: 0 });
}

#[test]
fn a_name_moves_money_once() {
    for teller in Teller::ALL {
        let mut paid = Paid::new();
        paid.moves(&told(teller, "r", 10));
        assert_eq!(paid.tell(&told(teller, "r", 10)), RefundVerdict::Repeated);
        assert_eq!(paid.tell(&told(teller, "r", None)), RefundVerdict::Repeated);
        assert_eq!(paid.tell(&told(teller, "r", 11)), RefundVerdict::ReferenceReused);
        assert_eq!(paid.of(MoneyState::Refunded), 10);
    }
}

#[test]
fn an_operators_name_is_no_other_payments_and_a_notices_may_be() {
    for (teller, verdict) in [(Teller::Operator, true), (Teller::Notice, false)] {
        let mut paid = Paid::new();
        paid.moves(&told(teller, "r", 10));
        let again = refund_told(id(2), None, &told(teller, "r", 10), &mut paid.portions, &mut paid.known);
        assert_eq!(again == RefundVerdict::ReferenceReused, verdict, "{teller:?}");
    }
}

#[test]
fn a_refund_that_operator_and_notice_tell_of_counts_once() {
    let mut paid = Paid::new();
    assert_eq!(paid.moves(&told(Teller::Operator, "r1", 10)), 10);
    assert_eq!(paid.moves(&told(Teller::Operator, "r2", 10)), 10);
    assert_eq!(paid.moves(&told(Teller::Notice, "m1", 10)), 0);
    assert_eq!(paid.moves(&told(Teller::Notice, "m2", 10)), 0);
    assert_eq!(paid.of(MoneyState::Refunded), 20);
    // Whoever tells of a third 10 tells of another refund, and so does a notice of another amount.
    assert_eq!(paid.moves(&told(Teller::Notice, "m3", 10)), 10);
    assert_eq!(paid.moves(&told(Teller::Notice, "m4", 7)), 7);
    assert_eq!(paid.tell(&told(Teller::Notice, "m1", 10)), RefundVerdict::Repeated);
}

#[test]
fn unmatched_money_can_be_paid_back() {
    let mut portions = Portions::from([(MoneyState::Unmatched, 50)]);
    let verdict = refund_told(id(1), None, &told(Teller::Operator, "r", None), &mut portions, &mut vec![]);
    assert!(matches!(verdict, RefundVerdict::New { refund, .. } if refund.moved == 50));
    assert_eq!(portions, Portions::from([(MoneyState::Refunded, 50)]));
}
