//! Dead letters, one live one an order, and the lone tries that come before them.

use std::slice::from_ref;

use tessera_model::ids::{LetterId, OrderId};

use super::Fixture;
use crate::letters::{Letter, LetterState};

/// An open letter about an order, or about none.
pub(super) fn letter_about(fixture: &Fixture, order: Option<OrderId>) -> Letter {
    Letter {
        id: fixture.id(LetterId::new),
        message_id: Some("m-1".to_owned()),
        event: Some("order.paid".to_owned()),
        order,
        reason: "the step panicked".to_owned(),
        fingerprint: "data:panic".to_owned(),
        attempts: 3,
        state: LetterState::Open,
        body: (0..=u8::MAX).collect(),
        first_failed_at: fixture.ago(5),
        last_failed_at: fixture.now(),
    }
}

async fn put(fixture: &Fixture, letters: &[Letter]) {
    fixture.write(async |tx| tx.letters_put(letters).await).await;
}

async fn read(fixture: &Fixture, id: LetterId) -> Option<Letter> {
    fixture.read(async |tx| tx.letters_read(id).await).await
}

/// Everything of a letter comes back, known or not, about an order of ours or not.
pub async fn letter_is_read_as_it_was_put(fixture: &Fixture) {
    let full = letter_about(fixture, Some(fixture.id(OrderId::new)));
    let bare = Letter {
        message_id: None,
        event: None,
        body: vec![],
        attempts: 0,
        state: LetterState::Replaying,
        ..letter_about(fixture, None)
    };
    put(fixture, &[full.clone(), bare.clone()]).await;
    assert_eq!(read(fixture, full.id).await, Some(full));
    assert_eq!(read(fixture, bare.id).await, Some(bare));
    assert_eq!(read(fixture, fixture.id(LetterId::new)).await, None);
}

/// An order that fails again has its live letter brought up to date: open, with the latest failure.
pub async fn order_has_one_live_letter(fixture: &Fixture) {
    let order = Some(fixture.id(OrderId::new));
    let first = Letter { state: LetterState::Replaying, ..letter_about(fixture, order) };
    put(fixture, from_ref(&first)).await;
    fixture.clock.set(fixture.later(60));
    let again = Letter {
        reason: "another".to_owned(),
        fingerprint: "data:another".to_owned(),
        attempts: 2,
        ..letter_about(fixture, order)
    };
    put(fixture, from_ref(&again)).await;
    let expected = Letter {
        reason: again.reason,
        fingerprint: again.fingerprint,
        attempts: 5,
        state: LetterState::Open,
        last_failed_at: again.last_failed_at,
        ..first
    };
    assert_eq!(fixture.read(async |tx| tx.letters_list(None, None, 9).await).await, [expected]);
}

/// Letters about no order are each their own; so are those about an order whose letter is settled.
pub async fn settled_letter_is_left_alone(fixture: &Fixture) {
    let order = Some(fixture.id(OrderId::new));
    for state in [LetterState::Resolved, LetterState::Discarded] {
        put(fixture, &[Letter { state, ..letter_about(fixture, order) }]).await;
    }
    put(fixture, &[letter_about(fixture, order)]).await;
    put(fixture, &[letter_about(fixture, None), letter_about(fixture, None)]).await;
    let live = fixture.read(async |tx| tx.letters_list(None, None, 9).await).await;
    assert_eq!(live.len(), 3);
    assert!(live.iter().all(|l| l.attempts == 3));
}

/// A letter whose commit was in doubt may be put again under its id.
pub async fn letter_put_again_is_one_letter(fixture: &Fixture) {
    let letter = letter_about(fixture, Some(fixture.id(OrderId::new)));
    put(fixture, from_ref(&letter)).await;
    put(fixture, from_ref(&letter)).await;
    assert_eq!(fixture.read(async |tx| tx.letters_list(None, None, 9).await).await.len(), 1);
}

/// Issuing an order settles its live letter, and no other.
pub async fn resolving_settles_the_live_letter(fixture: &Fixture) {
    let (order, other) = (fixture.id(OrderId::new), fixture.id(OrderId::new));
    let letters = [
        Letter { state: LetterState::Discarded, ..letter_about(fixture, Some(order)) },
        Letter { state: LetterState::Replaying, ..letter_about(fixture, Some(order)) },
        letter_about(fixture, Some(other)),
        letter_about(fixture, None),
    ];
    put(fixture, &letters).await;
    fixture.write(async |tx| tx.letters_resolve(&[order]).await).await;
    let mut states = vec![];
    for letter in &letters {
        states.extend(read(fixture, letter.id).await.map(|l| l.state));
    }
    let open = LetterState::Open;
    assert_eq!(states, [LetterState::Discarded, LetterState::Resolved, open, open]);
}

/// A list goes from the newest back, page by page: live letters, or those of one state.
pub async fn letters_are_listed_newest_first(fixture: &Fixture) {
    let mut letters = vec![];
    for state in [LetterState::ALL, LetterState::ALL].concat() {
        letters.push(Letter { state, ..letter_about(fixture, None) });
    }
    put(fixture, &letters).await;
    let list = async |state, before, limit| -> Vec<LetterId> {
        let found = fixture.read(async |tx| tx.letters_list(state, before, limit).await).await;
        found.iter().map(|l| l.id).collect()
    };
    let ids: Vec<LetterId> = letters.iter().map(|l| l.id).collect();
    assert_eq!(list(None, None, 3).await, [ids[5], ids[4], ids[1]]);
    assert_eq!(list(None, Some(ids[1]), 3).await, [ids[0]]);
    for (n, state) in LetterState::ALL.into_iter().enumerate() {
        assert_eq!(list(Some(state), None, 9).await, [ids[n + 4], ids[n]]);
        assert_eq!(list(Some(state), Some(ids[n + 4]), 9).await, [ids[n]]);
    }
}

/// Lone tries are counted by order until the order has an outcome; there are none of unknown orders.
pub async fn lone_tries_are_counted_until_they_are_cleared(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let a = fixture.place("ann", &[(&product, 1)]).await.id;
    let b = fixture.place("bob", &[(&product, 1)]).await.id;
    let raise = async |orders: &[OrderId]| {
        let mut counts = fixture.write(async |tx| tx.attempts_raise(orders).await).await;
        counts.sort();
        counts
    };
    assert_eq!(raise(&[a]).await, [(a, 1)]);
    assert_eq!(raise(&[a, b, fixture.id(OrderId::new)]).await, [(a, 2), (b, 1)]);
    fixture.write(async |tx| tx.attempts_clear(&[a]).await).await;
    assert_eq!(raise(&[a, b]).await, [(a, 1), (b, 2)]);
}
