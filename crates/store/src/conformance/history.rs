//! What happened to one order.

use std::slice::from_ref;

use tessera_model::ids::OrderId;
use tessera_model::pay::{MoneyEntry, MoneyState};

use super::Fixture;
use super::letters::letter_about;
use crate::operators::AuditEntry;
use crate::orders::OrderFilter;

/// Every entry of an order's payments, in the order they were written, and no other order's.
pub async fn money_is_told_entry_by_entry(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place_paid("ann", &[(&product, 1)]).await;
    fixture.place_paid("bob", &[(&product, 1)]).await;
    let first = fixture.read(async |tx| tx.money_history(order.id, 9).await).await.remove(0);
    assert_eq!((first.amount, first.state, first.at), (100, MoneyState::Settled, fixture.now()));
    fixture.clock.set(fixture.later(5));
    let entry = |amount, state| MoneyEntry { payment: first.payment, order: Some(order.id), amount, state };
    let moved = [entry(-100, MoneyState::Settled), entry(100, MoneyState::RefundDue)];
    fixture.write(async |tx| tx.money_append(&moved).await).await;
    let all = fixture.read(async |tx| tx.money_history(order.id, 9).await).await;
    let told: Vec<_> = all.iter().map(|m| (m.amount, m.state)).collect();
    let expected = [(100, MoneyState::Settled), (-100, MoneyState::Settled), (100, MoneyState::RefundDue)];
    assert_eq!(told, expected);
    assert_eq!(all[2].at, fixture.now());
    assert_eq!(fixture.read(async |tx| tx.money_history(order.id, 1).await).await.len(), 1);
}

/// What was done to a thing is found by its whole name.
pub async fn audit_entries_are_found_by_their_subject(fixture: &Fixture) {
    let entry = |subject: &str, reason: Option<&str>| AuditEntry {
        actor: "cli".to_owned(),
        action: "order.replace".to_owned(),
        subject: subject.to_owned(),
        reason: reason.map(str::to_owned),
    };
    let entries = [entry("a", Some("it is used")), entry("ab", None), entry("a", None)];
    fixture.write(async |tx| tx.audit_append(&entries).await).await;
    let found = fixture.read(async |tx| tx.audit_of("a", 9).await).await;
    assert_eq!(found, [(fixture.now(), entries[0].clone()), (fixture.now(), entries[2].clone())]);
    assert_eq!(fixture.read(async |tx| tx.audit_of("a", 1).await).await.len(), 1);
    assert_eq!(fixture.read(async |tx| tx.audit_of("%", 9).await).await, []);
}

/// An order's letters are found, settled ones too.
pub async fn letters_are_found_by_their_order(fixture: &Fixture) {
    let order = fixture.id(OrderId::new);
    let first = letter_about(fixture, Some(order));
    let others = [letter_about(fixture, None), letter_about(fixture, Some(fixture.id(OrderId::new)))];
    fixture.write(async |tx| tx.letters_put(from_ref(&first)).await).await;
    fixture.write(async |tx| tx.letters_resolve(&[order]).await).await;
    let second = letter_about(fixture, Some(order));
    fixture.write(async |tx| tx.letters_put(from_ref(&second)).await).await;
    fixture.write(async |tx| tx.letters_put(&others).await).await;
    let found = fixture.read(async |tx| tx.letters_of(order).await).await;
    assert_eq!(found.iter().map(|letter| letter.id).collect::<Vec<_>>(), [first.id, second.id]);
}

/// Each time it is reissued an order has the next epoch, and another version.
pub async fn reissued_order_has_the_next_epoch(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 1)]).await;
    for epoch in 1..=2 {
        assert_eq!(fixture.write(async |tx| tx.orders_reissue(order.id).await).await, Some(epoch));
    }
    let now = fixture.read(async |tx| tx.orders_read(&[order.id]).await).await.remove(0);
    assert_eq!((now.epoch, now.version, now.state), (2, order.version + 2, order.state));
    let unknown = fixture.id(OrderId::new);
    assert_eq!(fixture.write(async |tx| tx.orders_reissue(unknown).await).await, None);
}

/// Orders are found by when they were placed, and by being stuck.
pub async fn orders_are_found_by_time_and_when_they_are_stuck(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let early = fixture.place_paid("ann", &[(&product, 1)]).await;
    let begun = fixture.later(10);
    fixture.clock.set(begun);
    let unpaid = fixture.place("bob", &[(&product, 1)]).await;
    fixture.clock.set(fixture.later(10));
    let late = fixture.place_paid("cid", &[(&product, 1)]).await;
    let list = async |filter: OrderFilter| -> Vec<OrderId> {
        let listed = fixture.read(async |tx| tx.orders_list(&filter, 9).await).await;
        listed.iter().map(|order| order.id).collect()
    };
    let (from, to) = (Some(begun), Some(fixture.now()));
    assert_eq!(list(OrderFilter { from, ..OrderFilter::default() }).await, [late.id, unpaid.id]);
    assert_eq!(list(OrderFilter { to, ..OrderFilter::default() }).await, [unpaid.id, early.id]);
    assert_eq!(list(OrderFilter { from, to, ..OrderFilter::default() }).await, [unpaid.id]);
    let stuck = Some(fixture.ago(5));
    assert_eq!(list(OrderFilter { stuck, ..OrderFilter::default() }).await, [early.id]);
    let letter = letter_about(fixture, Some(late.id));
    fixture.write(async |tx| tx.letters_put(from_ref(&letter)).await).await;
    assert_eq!(list(OrderFilter { stuck, ..OrderFilter::default() }).await, [late.id, early.id]);
    assert_eq!(list(OrderFilter { from, stuck, ..OrderFilter::default() }).await, [late.id]);
}
