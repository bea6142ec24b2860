//! Reconcile: clean on a correct shop, and naming what is off on another.

use std::slice::from_ref;

use tessera_model::order::{Order, OrderState};
use tessera_model::pay::{KnownRefund, MoneyEntry, MoneyState, Teller};
use tessera_model::text::Reference;

use super::Fixture;
use super::shop::{customer, issue_span, void_span};
use crate::reconcile::Check;

async fn checks(fixture: &Fixture) -> Vec<Check> {
    fixture.read(async |tx| tx.reconcile().await).await
}

/// The one balance that is off, and its faults' tables.
async fn assert_off(fixture: &Fixture, name: &str, table: &str) {
    let off: Vec<Check> = checks(fixture).await.into_iter().filter(|c| !c.faults.is_empty()).collect();
    assert_eq!(off.iter().map(|c| c.name).collect::<Vec<_>>(), [name], "{off:?}");
    assert!(off[0].faults.iter().any(|fault| fault.table == table), "{off:?}");
}

async fn assert_balanced(fixture: &Fixture) {
    for check in checks(fixture).await {
        assert_eq!(check.faults, [], "{}", check.name);
    }
}

/// Every balance is looked at, in a new shop too.
pub async fn new_shop_is_balanced(fixture: &Fixture) {
    let names: Vec<&str> = checks(fixture).await.iter().map(|c| c.name).collect();
    assert_eq!(names, ["codes", "claims", "customers", "money", "rounds"]);
    assert_balanced(fixture).await;
}

/// A shop with an order in every state is balanced, and says how much was looked at.
pub async fn correct_shop_is_balanced(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 10).await;
    fixture.loading(&product, 3).await;
    fixture.place("ann", &[(&product, 1)]).await;
    fixture.place_paid("ann", &[(&product, 2)]).await;
    let waiting = fixture.place_paid("bob", &[(&product, 9)]).await;
    fixture.backorder(&waiting, &[&product]).await;
    let issued = fixture.place_paid("bob", &[(&product, 4)]).await;
    let issued = fixture.issue(&issued, batch, 0, 10).await;
    for state in
        [OrderState::Expired { closed_at: fixture.now() }, OrderState::Cancelled { closed_at: fixture.now() }]
    {
        let order = fixture.place("cid", &[(&product, 3)]).await;
        fixture
            .write(async |tx| {
                tx.stock_move(&[(product.id, -3)]).await?;
                tx.customers_move(&[(customer("cid"), product.id, -3)]).await
            })
            .await;
        fixture.advance(&order, state).await;
    }
    refund(fixture, &issued).await;
    fixture
        .write(async |tx| {
            tx.spans_append(&[void_span(batch, 4, 10, 10)]).await?;
            tx.batches_advance(&[(batch, 10)]).await
        })
        .await;
    assert_balanced(fixture).await;
    let looked_at: Vec<bool> = checks(fixture).await.iter().map(|c| c.checked > 0).collect();
    assert_eq!(looked_at, [true, true, true, true, false]);
}

/// Takes an issued order all the way to its refund.
async fn refund(fixture: &Fixture, order: &Order) {
    let portion = fixture.read(async |tx| tx.money_of(&[order.id]).await).await[0];
    let moved = |from, to| MoneyEntry::moved(portion.payment, Some(order.id), portion.minor, from, to);
    let due = moved(MoneyState::Settled, MoneyState::RefundDue);
    let done = moved(MoneyState::RefundDue, MoneyState::Refunded);
    let kept = fixture.read(async |tx| tx.payments_read(&[portion.payment]).await).await.remove(0);
    let refund = KnownRefund {
        payment: portion.payment,
        teller: Teller::Operator,
        reference: Reference::parse("refund-1").expect("a reference"),
        minor: portion.minor,
        moved: portion.minor,
        repeats: None,
    };
    fixture
        .write(async |tx| {
            tx.refunds_put(&[(kept.payment.provider.clone(), refund)]).await?;
            tx.money_append(&[due, done].concat()).await
        })
        .await;
    let (paid_at, at) = (portion.received_at, fixture.now());
    let issued_at = order.state.issued_at();
    let order = fixture.advance(order, OrderState::RefundDue { paid_at, issued_at, refund_due_at: at }).await;
    let refunded = OrderState::Refunded { paid_at, issued_at, refund_due_at: at, refunded_at: at };
    fixture.advance(&order, refunded).await;
}

/// A claim that no order holds.
pub async fn claim_without_an_order_is_found(fixture: &Fixture) {
    let product = fixture.product("card").await;
    fixture.write(async |tx| tx.stock_move(&[(product.id, 1)]).await).await;
    assert_off(fixture, "claims", "stock").await;
}

/// Units that no order of the customer holds.
pub async fn units_without_an_order_are_found(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let ann = customer("ann");
    fixture
        .write(async |tx| {
            tx.customers_lock(from_ref(&ann)).await?;
            tx.customers_move(&[(ann.clone(), product.id, 1)]).await
        })
        .await;
    assert_off(fixture, "customers", "customer_product").await;
}

/// A payment whose money is nowhere.
pub async fn payment_without_entries_is_found(fixture: &Fixture) {
    let payment = fixture.new_payment("order-1", 100);
    fixture.write(async |tx| tx.payments_claim(from_ref(&payment)).await).await;
    assert_off(fixture, "money", "payment").await;
}

/// A state of a payment that is below zero, though its sum is right.
pub async fn money_below_zero_is_found(fixture: &Fixture) {
    let payment = fixture.new_payment("order-1", 100);
    let entry = |amount, state| MoneyEntry { payment: payment.id, order: None, amount, state };
    let entries = [entry(150, MoneyState::Unmatched), entry(-50, MoneyState::Refunded)];
    fixture
        .write(async |tx| {
            tx.payments_claim(from_ref(&payment)).await?;
            tx.money_append(&entries).await
        })
        .await;
    assert_off(fixture, "money", "money_entry").await;
}

/// An order that is paid, and nothing was settled.
pub async fn paid_order_without_money_is_found(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 1)]).await;
    fixture.advance(&order, OrderState::Paid { paid_at: fixture.now() }).await;
    assert_off(fixture, "money", "orders").await;
}

/// An order that counts as issued, and has no code.
pub async fn issued_order_without_codes_is_found(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place_paid("ann", &[(&product, 1)]).await;
    fixture.write(async |tx| tx.stock_move(&[(product.id, -1)]).await).await;
    let (paid_at, issued_at) = (fixture.now(), fixture.now());
    fixture.advance(&order, OrderState::Issued { paid_at, issued_at }).await;
    assert_off(fixture, "codes", "order_line").await;
}

/// An order that has codes, and was not issued; and a chain that goes on behind its batch's back.
pub async fn codes_without_an_issue_are_found(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 5).await;
    let order = fixture.place_paid("ann", &[(&product, 2)]).await;
    fixture
        .write(async |tx| {
            tx.spans_append(&[issue_span(batch, 0, 2, 5, order.id)]).await?;
            tx.batches_advance(&[(batch, 2)]).await
        })
        .await;
    assert_off(fixture, "codes", "orders").await;
}

/// An order that waits, and is not backordered.
pub async fn waiting_order_that_is_not_backordered_is_found(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place_paid("ann", &[(&product, 1)]).await;
    fixture.write(async |tx| tx.waitlists_join(&[(product.id, (fixture.now(), order.id))]).await).await;
    assert_off(fixture, "codes", "waitlist").await;
}

/// An order that is backordered, and waits for nothing.
pub async fn backordered_order_that_does_not_wait_is_found(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place_paid("ann", &[(&product, 1)]).await;
    fixture.advance(&order, OrderState::Backordered { paid_at: fixture.now() }).await;
    assert_off(fixture, "codes", "orders").await;
}
