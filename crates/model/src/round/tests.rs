//! What a raffle promises while a set is decided.

use std::time::Duration;

use super::*;
use crate::draw::EntropyRule;
use proptest::prelude::*;

const AT: Timestamp = Timestamp::from_micros(1);

/// A raffle of so many shares a round, before its first one.
pub(crate) fn room(shares: i64, last_round: Option<i64>) -> RaffleRoom {
    let mut next = 100_u8;
    RaffleRoom {
        product: ProductId::new(AT, [1; 10]),
        sku: Sku::parse("phone").unwrap(),
        raffle: Raffle {
            shares,
            first_number: 10_000_001,
            draw_after: Duration::from_mins(10),
            last_round,
            entropy_rule: EntropyRule::None,
        },
        active: true,
        secret: Secret::new([7; 32]),
        last: 0,
        round: None,
        ids: Box::new(move || {
            next = next.wrapping_add(1);
            BatchId::new(AT, [next; 10])
        }),
    }
}

fn give(room: &mut RaffleRoom, n: u8, quantity: i64) -> (Vec<Span>, Vec<NewRound>) {
    let (mut spans, mut opened) = (vec![], vec![]);
    let order = OrderId::new(AT, [n; 10]);
    room.give((order, 1, quantity), &mut spans, &mut |_| (), &mut opened);
    (spans, opened)
}

#[test]
fn a_round_that_fills_is_followed_by_the_next_in_the_same_breath() {
    let mut room = room(10, None);
    assert_eq!(room.settle().opened.map(|new| new.number), Some(1));
    let (spans, opened) = give(&mut room, 1, 10);
    assert_eq!((spans.len(), opened.len()), (1, 1));
    let round = room.round.as_ref().unwrap();
    assert_eq!((round.number, round.batch.issued), (2, 0));
}

#[test]
fn an_order_larger_than_the_rest_goes_on_in_the_next_round() {
    let mut room = room(10, None);
    room.settle();
    give(&mut room, 1, 7);
    assert_eq!(room.fit(25), Fit::Fits(3));
    let (spans, opened) = give(&mut room, 2, 25);
    let given: Vec<i64> = spans.iter().map(|s| s.upto - s.start).collect();
    assert_eq!(given, [3, 10, 10, 2]);
    assert_eq!(spans.iter().map(|s| s.owner.unwrap().part).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(opened.iter().map(|new| new.number).collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn after_the_last_round_there_is_nothing_to_be_had() {
    let mut room = room(10, Some(2));
    room.settle();
    assert!(!room.claims());
    assert_eq!((room.fit(20), room.fit(21)), (Fit::Fits(1), Fit::Over));
    give(&mut room, 1, 10);
    assert!(room.claims());
    assert_eq!((room.fit(10), room.fit(11)), (Fit::Fits(0), Fit::Over));
    give(&mut room, 2, 10);
    assert_eq!((room.round.is_none(), room.settle(), room.fit(1)), (true, Settled::default(), Fit::Over));
}

#[test]
fn a_raffle_that_is_not_active_ends_with_its_round() {
    let mut room = room(10, None);
    room.settle();
    room.active = false;
    assert_eq!((room.fit(10), room.fit(11)), (Fit::Fits(0), Fit::Over));
}

#[test]
fn a_round_burned_to_its_end_is_full_before_the_next_opens() {
    let mut room = room(10, Some(2));
    room.settle();
    give(&mut room, 1, 4);
    assert_eq!(room.settle(), Settled::default(), "shares are left");
    for next in [Some(2), None] {
        let round = room.round.as_mut().unwrap();
        assert_eq!(round.spent(), None);
        round.batch.issued = 10;
        let (id, digest) = (round.batch.id, round.digest);
        let settled = room.settle();
        assert_eq!(settled.spent, Some((id, Turned { digest, full: true })));
        assert_eq!(settled.opened.map(|new| new.number), next);
    }
}

proptest! {
    #[test]
    fn every_share_is_sold_once_and_rounds_follow_each_other(
        shares in 1_i64..40,
        last in proptest::option::of(1_i64..6),
        wants in proptest::collection::vec(1_i64..100, 1..12),
    ) {
        let mut room = room(shares, last);
        let mut numbers: Vec<i64> = room.settle().opened.iter().map(|new| new.number).collect();
        let mut sold = 0;
        for (n, want) in wants.into_iter().enumerate() {
            let fits = last.is_none_or(|last| sold + want <= last * shares);
            match room.fit(want) {
                Fit::Over => prop_assert!(!fits),
                Fit::Fits(opens) => {
                    prop_assert!(fits);
                    let (spans, opened) = give(&mut room, u8::try_from(n).unwrap(), want);
                    prop_assert_eq!(opened.len(), opens);
                    numbers.extend(opened.iter().map(|new| new.number));
                    prop_assert_eq!(spans.iter().map(|s| s.upto - s.start).sum::<i64>(), want);
                    sold += want;
                }
            }
        }
        let expected: Vec<i64> = (1..=sold / shares + 1).filter(|n| last.is_none_or(|l| *n <= l)).collect();
        prop_assert_eq!(numbers, expected);
    }
}
