//! Payments as operators look at them, and the refunds told of them.

use std::slice::from_ref;

use tessera_model::ids::PaymentId;
use tessera_model::pay::{KnownRefund, MoneyEntry, MoneyState, PaymentReason, Teller};
use tessera_model::text::{Provider, Reference};

use super::Fixture;
use crate::payments::Payment;
use crate::refunds::StoredPayment;

/// A payment of no order, its money in one state.
async fn unmatched(fixture: &Fixture, minor: i64, state: MoneyState) -> Payment {
    let payment = fixture.new_payment("nobody's", minor);
    let entry = MoneyEntry { payment: payment.id, order: None, amount: minor, state };
    fixture
        .write(async |tx| {
            tx.payments_claim(from_ref(&payment)).await?;
            tx.money_append(&[entry]).await
        })
        .await;
    payment
}

fn named(text: &str) -> Reference {
    Reference::parse(text).expect("a reference")
}

fn refund(payment: &Payment, teller: Teller, reference: &str) -> (Provider, KnownRefund) {
    let (reference, repeats) = (named(reference), None);
    let known = KnownRefund { payment: payment.id, teller, reference, minor: 10, moved: 10, repeats };
    (payment.provider.clone(), known)
}

/// Order, instant and reason come back as they were written; without them, none.
pub async fn payment_is_read_with_what_became_of_it(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 1)]).await.id;
    let payments = [fixture.new_payment("one", 100), fixture.new_payment("two", 100)];
    fixture.write(async |tx| tx.payments_claim(&payments).await).await;
    let explained = [(payments[0].id, Some(order), Some(PaymentReason::SecondPayment))];
    fixture.write(async |tx| tx.payments_explain(&explained).await).await;
    let ids = [payments[0].id, payments[1].id, fixture.id(PaymentId::new)];
    let mut found = fixture.read(async |tx| tx.payments_read(&ids).await).await;
    found.sort_by_key(|stored| stored.payment.id);
    let received_at = fixture.now();
    let [first, second] = payments;
    let reason = Some(PaymentReason::SecondPayment);
    let first = StoredPayment { payment: first, order: Some(order), received_at, reason };
    let second = StoredPayment { payment: second, order: None, received_at, reason: None };
    assert_eq!(found, [first, second]);
    // Locking them changes nothing, and one that is not there is no fault.
    fixture.write(async |tx| tx.payments_lock(&ids).await).await;
}

/// Newest first, page by page: all of them, or those with money in a state now.
pub async fn payments_are_listed_by_where_their_money_is(fixture: &Fixture) {
    let mut ids = vec![];
    for state in [MoneyState::Settled, MoneyState::Unmatched, MoneyState::Unmatched, MoneyState::RefundDue] {
        ids.push(unmatched(fixture, 50, state).await.id);
    }
    let moved = MoneyEntry::moved(ids[1], None, 50, MoneyState::Unmatched, MoneyState::Refunded);
    fixture.write(async |tx| tx.money_append(&moved).await).await;
    let part = MoneyEntry::moved(ids[2], None, 20, MoneyState::Unmatched, MoneyState::Refunded);
    fixture.write(async |tx| tx.money_append(&part).await).await;
    let listed = async |state, before, limit| {
        let found = fixture.read(async |tx| tx.payments_list(state, before, limit).await).await;
        found.into_iter().map(|stored| stored.payment.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, None, 9).await, [ids[3], ids[2], ids[1], ids[0]]);
    assert_eq!(listed(None, Some(ids[2]), 1).await, [ids[1]]);
    assert_eq!(listed(Some(MoneyState::Settled), None, 9).await, [ids[0]]);
    assert_eq!(listed(Some(MoneyState::Unmatched), None, 9).await, [ids[2]]);
    assert_eq!(listed(Some(MoneyState::Refunded), None, 9).await, [ids[2], ids[1]]);
    assert_eq!(listed(Some(MoneyState::Refunded), None, 1).await, [ids[2]]);
    assert_eq!(listed(Some(MoneyState::Refunded), Some(ids[2]), 9).await, [ids[1]]);
    assert_eq!(listed(Some(MoneyState::Short), None, 9).await, []);
    let mut portions = fixture.read(async |tx| tx.portions_of(&ids[1..3]).await).await;
    portions.sort_unstable_by_key(|(payment, state, _)| (*payment, *state));
    let (gone, left) = (MoneyState::Refunded, MoneyState::Unmatched);
    assert_eq!(portions, [(ids[1], gone, 50), (ids[2], gone, 20), (ids[2], left, 30)]);
}

/// An operator's by its name; every one by its payment.
pub async fn refunds_are_found_by_name_and_payment(fixture: &Fixture) {
    let one = unmatched(fixture, 50, MoneyState::Unmatched).await;
    let other = unmatched(fixture, 50, MoneyState::Unmatched).await;
    let confirmed = refund(&one, Teller::Operator, "r");
    let mut repeated = refund(&one, Teller::Notice, "m");
    (repeated.1.moved, repeated.1.repeats) = (0, Some(named("r")));
    let told = refund(&other, Teller::Notice, "r");
    let all = [confirmed.clone(), repeated.clone(), told.clone()];
    fixture.write(async |tx| tx.refunds_put(&all).await).await;
    let names = [(one.provider.clone(), named("r")), (one.provider.clone(), named("m"))];
    assert_eq!(fixture.read(async |tx| tx.refunds_named(&names).await).await, from_ref(&confirmed));
    let mut of = fixture.read(async |tx| tx.refunds_of(&[one.id]).await).await;
    of.sort_by_key(|refund| refund.teller == Teller::Notice);
    assert_eq!(of, [confirmed.1, repeated.1]);
    assert_eq!(fixture.read(async |tx| tx.refunds_of(&[other.id]).await).await, [told.1]);
}

/// An operator's in the whole provider, a notice's at its payment; nor is a refund told again twice.
pub async fn a_refunds_name_is_taken_once(fixture: &Fixture) {
    let one = unmatched(fixture, 50, MoneyState::Unmatched).await;
    let other = unmatched(fixture, 50, MoneyState::Unmatched).await;
    let taken = [refund(&one, Teller::Operator, "r"), refund(&one, Teller::Notice, "m")];
    fixture.write(async |tx| tx.refunds_put(&taken).await).await;
    for again in [refund(&other, Teller::Operator, "r"), refund(&one, Teller::Notice, "m")] {
        fixture.assert_refused(async |tx| tx.refunds_put(&[again]).await).await;
    }
    let free = [refund(&other, Teller::Notice, "m"), refund(&one, Teller::Notice, "r")];
    fixture.write(async |tx| tx.refunds_put(&free).await).await;
    let repeats = ["m1", "m2"].map(|name| {
        let (provider, known) = refund(&one, Teller::Notice, name);
        (provider, KnownRefund { moved: 0, repeats: Some(named("r")), ..known })
    });
    fixture.assert_refused(async |tx| tx.refunds_put(&repeats).await).await;
}

/// It is of a payment that is there, of something, and moves no more than that.
pub async fn impossible_refunds_are_data_faults(fixture: &Fixture) {
    let payment = unmatched(fixture, 50, MoneyState::Unmatched).await;
    let (provider, good) = refund(&payment, Teller::Operator, "r");
    let impossible = [
        KnownRefund { payment: fixture.id(PaymentId::new), ..good.clone() },
        KnownRefund { minor: 0, moved: 0, ..good.clone() },
        KnownRefund { moved: 11, ..good.clone() },
        KnownRefund { moved: -1, ..good.clone() },
        KnownRefund { moved: 0, repeats: Some(named("x")), ..good },
    ];
    for refund in impossible {
        fixture.assert_refused(async |tx| tx.refunds_put(&[(provider.clone(), refund)]).await).await;
    }
}

/// Money is refunded by a refund that says so, and by no more.
pub async fn refunded_money_without_its_refund_is_found(fixture: &Fixture) {
    let payment = unmatched(fixture, 50, MoneyState::Unmatched).await;
    let moved = MoneyEntry::moved(payment.id, None, 10, MoneyState::Unmatched, MoneyState::Refunded);
    let faults = async || {
        let checks = fixture.read(async |tx| tx.reconcile().await).await;
        checks.into_iter().flat_map(|check| check.faults).count()
    };
    fixture.write(async |tx| tx.money_append(&moved).await).await;
    assert_eq!(faults().await, 1);
    let told = refund(&payment, Teller::Operator, "r");
    fixture.write(async |tx| tx.refunds_put(&[told]).await).await;
    assert_eq!(faults().await, 0);
}
