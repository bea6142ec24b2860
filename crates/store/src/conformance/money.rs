//! The ledger of money: where each payment's money stands.

use std::slice::from_ref;

use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::pay::{MoneyEntry, MoneyState};

use super::Fixture;
use super::shop::cny;
use crate::payments::{Payment, Portion};

/// A payment matched with an order, all of it in one state.
async fn received(fixture: &Fixture, order: OrderId, minor: i64, state: MoneyState) -> Payment {
    let payment = fixture.new_payment(&order.to_string(), minor);
    fixture
        .write(async |tx| {
            tx.payments_claim(from_ref(&payment)).await?;
            tx.payments_explain(&[(payment.id, Some(order), None)]).await?;
            let entry = MoneyEntry { payment: payment.id, order: Some(order), amount: minor, state };
            tx.money_append(&[entry]).await
        })
        .await;
    payment
}

async fn portions(fixture: &Fixture, order: OrderId) -> Vec<(PaymentId, MoneyState, i64)> {
    let mut found: Vec<Portion> = fixture.read(async |tx| tx.money_of(&[order]).await).await;
    assert!(found.iter().all(|p| p.order == order));
    found.sort_by_key(|p| (p.payment, p.state));
    found.iter().map(|p| (p.payment, p.state, p.minor)).collect()
}

/// An order's money is told by payment and state, with when it came.
pub async fn money_is_summed_by_payment_and_state(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 5)]).await.id;
    let other = fixture.place_paid("bob", &[(&product, 1)]).await.id;
    let first = received(fixture, order, 200, MoneyState::Short).await.id;
    let came = fixture.now();
    fixture.clock.set(fixture.later(60));
    let second = received(fixture, order, 400, MoneyState::Settled).await.id;
    fixture
        .write(async |tx| {
            let over =
                MoneyEntry::moved(second, Some(order), 100, MoneyState::Settled, MoneyState::RefundDue);
            let back =
                MoneyEntry::moved(second, Some(order), 30, MoneyState::RefundDue, MoneyState::Refunded);
            tx.money_append(&over).await?;
            tx.money_append(&back).await
        })
        .await;
    let expected = [
        (first, MoneyState::Short, 200),
        (second, MoneyState::Settled, 300),
        (second, MoneyState::RefundDue, 70),
        (second, MoneyState::Refunded, 30),
    ];
    assert_eq!(portions(fixture, order).await, expected);
    let both = fixture.read(async |tx| tx.money_of(&[order, other]).await).await;
    assert_eq!(both.len(), 5);
    let short = both.iter().find(|p| p.state == MoneyState::Short).expect("the short payment");
    assert_eq!(short.received_at, came);
}

/// What was moved out of a state altogether is not told.
pub async fn sums_of_zero_are_absent(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 5)]).await.id;
    let payment = received(fixture, order, 500, MoneyState::Short).await.id;
    let moved = MoneyEntry::moved(payment, Some(order), 500, MoneyState::Short, MoneyState::Settled);
    fixture.write(async |tx| tx.money_append(&moved).await).await;
    assert_eq!(portions(fixture, order).await, [(payment, MoneyState::Settled, 500)]);
}

/// Money of a payment that was matched with no order is no order's.
pub async fn unmatched_money_is_no_orders(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 5)]).await.id;
    let payment = fixture.new_payment(&order.to_string(), 500);
    let entry = MoneyEntry { payment: payment.id, order: None, amount: 500, state: MoneyState::Unmatched };
    fixture
        .write(async |tx| {
            tx.payments_claim(from_ref(&payment)).await?;
            tx.money_append(&[entry]).await
        })
        .await;
    assert_eq!(portions(fixture, order).await, []);
}

/// Amounts are whole up to the last unit of 64 bits.
pub async fn amounts_are_exact_up_to_the_largest(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 5)]).await.id;
    let payment = received(fixture, order, i64::MAX, MoneyState::Settled).await;
    assert_eq!(payment.amount, cny(i64::MAX));
    let all_but_one = i64::MAX - 1;
    let moved =
        MoneyEntry::moved(payment.id, Some(order), all_but_one, MoneyState::Settled, MoneyState::Refunded);
    fixture.write(async |tx| tx.money_append(&moved).await).await;
    let expected = [(payment.id, MoneyState::Settled, 1), (payment.id, MoneyState::Refunded, all_but_one)];
    assert_eq!(portions(fixture, order).await, expected);
}

/// An entry moves something, of a payment that is there.
pub async fn impossible_entries_are_data_faults(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 5)]).await.id;
    let payment = received(fixture, order, 500, MoneyState::Short).await.id;
    let entry = MoneyEntry { payment, order: Some(order), amount: 1, state: MoneyState::Short };
    let impossible = [
        MoneyEntry { amount: 0, ..entry },
        MoneyEntry { payment: fixture.id(PaymentId::new), ..entry },
        MoneyEntry { order: Some(fixture.id(OrderId::new)), ..entry },
    ];
    for entry in impossible {
        fixture.assert_refused(async |tx| tx.money_append(&[entry]).await).await;
    }
}
