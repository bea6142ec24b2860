//! Facts about this module.

use super::*;
use crate::round::tests::room;
use crate::span::SpanKind;
use proptest::prelude::*;

fn product(n: u8) -> ProductId {
    ProductId::new(Timestamp::from_micros(1), [n; 10])
}

fn batch(n: u8, of: u8, size: i64) -> OpenBatch {
    let id = BatchId::new(Timestamp::from_micros(1), [n; 10]);
    OpenBatch { id, product: product(of), size, issued: 0, voided: vec![] }
}

fn order(n: u8) -> OrderId {
    OrderId::new(Timestamp::from_micros(1), [n; 10])
}

fn candidate(n: u8, lines: &[(u8, i64)]) -> Candidate {
    let lines = (1..).zip(lines).map(|(line, (p, q))| (line, product(*p), *q)).collect();
    Candidate { order: order(n), paid_at: Timestamp::from_micros(i64::from(n)), backordered: false, lines }
}

fn waiting(n: u8, lines: &[(u8, i64)]) -> Candidate {
    Candidate { backordered: true, ..candidate(n, lines) }
}

/// A raffle of so many shares a round, its first one on sale.
fn raffle(of: u8, shares: i64, last_round: Option<i64>) -> RaffleRoom {
    let mut room = RaffleRoom { product: product(of), ..room(shares, last_round) };
    room.settle();
    room
}

#[test]
fn an_order_that_opens_more_rounds_than_a_set_may_is_issued_where_it_is_first() {
    let mut room = Stockroom::default();
    room.raffle(raffle(9, 1, None));
    let all = [candidate(1, &[(9, 1)]), candidate(2, &[(9, 40)]), candidate(3, &[(9, 1)])];
    let plan = room.plan(&all);
    assert_eq!((plan.issued, plan.deferred), (vec![order(1)], vec![order(2), order(3)]));
    let plan = room.plan(&all[1..]);
    assert_eq!((plan.issued, plan.deferred), (vec![order(2)], vec![order(3)]));
    assert_eq!(room.plan(&all[2..]).issued, [order(3)]);
}

#[test]
fn an_order_whose_raffle_is_over_makes_way_where_it_waited() {
    let mut room = Stockroom::default();
    room.raffle(raffle(9, 5, Some(1)));
    room.add(batch(1, 1, 1));
    let all = [waiting(1, &[(9, 6), (1, 1)]), waiting(2, &[(1, 1)])];
    for one in &all {
        room.waits(product(1), one.turn());
    }
    let plan = room.plan(&all);
    assert_eq!((plan.over, plan.issued), (vec![order(1)], vec![order(2)]));
}

#[test]
fn an_order_for_many_takes_one_span() {
    let mut room = Stockroom::default();
    room.add(batch(1, 1, 500));
    let plan = room.plan(&[candidate(1, &[(1, 388)])]);
    assert_eq!((plan.spans.len(), plan.issued.as_slice()), (1, [order(1)].as_slice()));
    assert_eq!(plan.released, BTreeMap::from([(product(1), 388)]));
}

#[test]
fn an_order_goes_on_in_the_next_batch() {
    let mut room = Stockroom::default();
    room.add(batch(1, 1, 3));
    room.add(batch(2, 1, 9));
    let plan = room.plan(&[candidate(1, &[(1, 5)])]);
    let taken: Vec<_> = plan.spans.iter().map(|s| (s.start, s.upto, s.owner.unwrap().part)).collect();
    assert_eq!(taken, [(0, 3, 0), (0, 2, 1)]);
    assert_eq!(plan.advanced.len(), 2);
}

#[test]
fn a_shortage_of_one_line_burns_nothing_of_the_other() {
    let mut room = Stockroom::default();
    room.add(batch(1, 1, 9));
    let plan = room.plan(&[candidate(1, &[(1, 1), (2, 1)])]);
    assert!(plan.spans.is_empty() && plan.advanced.is_empty() && plan.issued.is_empty());
    assert_eq!(plan.backordered, [order(1)]);
    assert_eq!(plan.joined, [(product(2), candidate(1, &[]).turn())], "waits only where it was short");
}

#[test]
fn a_later_order_does_not_pass_the_head_of_a_waitlist() {
    let mut room = Stockroom::default();
    room.add(batch(1, 1, 3));
    room.waits(product(1), waiting(1, &[]).turn());
    let plan = room.plan(&[candidate(2, &[(1, 1)])]);
    assert_eq!(plan.backordered, [order(2)]);
}

#[test]
fn a_waitlist_is_filled_from_its_head_as_far_as_the_stock_goes() {
    let mut room = Stockroom::default();
    room.add(batch(1, 1, 5));
    let all: Vec<_> = [(1, 3), (2, 3), (3, 1)].map(|(n, q)| waiting(n, &[(1, q)])).into();
    for one in &all {
        room.waits(product(1), one.turn());
    }
    let plan = room.plan(&all);
    assert_eq!(plan.issued, [order(1)], "the second does not fit and the third does not pass it");
    assert!(plan.joined.is_empty() && plan.backordered.is_empty());
}

#[test]
fn an_order_of_another_product_is_not_held_up_by_a_waitlist() {
    let mut room = Stockroom::default();
    room.add(batch(1, 2, 5));
    let plan = room.plan(&[candidate(1, &[(1, 1)]), candidate(2, &[(2, 1)])]);
    assert_eq!(plan.issued, [order(2)]);
}

proptest! {
    #[test]
    fn no_code_goes_twice_and_no_order_gets_a_part(
        sizes in proptest::collection::vec(1_i64..30, 1..5),
        orders in proptest::collection::vec((1_i64..20, 1_i64..20), 1..40),
    ) {
        let mut room = Stockroom::default();
        for (n, size) in (1..).zip(&sizes) {
            room.add(batch(n, 1, *size));
            room.add(batch(100 + n, 2, *size));
        }
        let candidates: Vec<_> =
            (1..).zip(&orders).map(|(n, (a, b))| candidate(n, &[(1, *a), (2, *b)])).collect();
        let plan = room.plan(&candidates);
        for one in &candidates {
            let got: Vec<i64> = one.lines.iter().map(|(line, _, _)| {
                plan.spans.iter()
                    .filter(|s| s.owner.is_some_and(|o| o.order == one.order && o.line == *line))
                    .map(|s| s.upto - s.start).sum()
            }).collect();
            let want: Vec<i64> = one.lines.iter().map(|(_, _, q)| *q).collect();
            let all = plan.issued.contains(&one.order);
            prop_assert_eq!(got, if all { want } else { vec![0, 0] });
            prop_assert_eq!(plan.backordered.contains(&one.order), !all);
        }
        for (n, size) in (1..).zip(&sizes) {
            for id in [n, 100 + n] {
                let id = batch(id, 1, 1).id;
                let mut at = 0;
                for span in plan.spans.iter().filter(|s| s.batch == id) {
                    prop_assert_eq!((span.start, span.size, span.kind), (at, *size, SpanKind::Issue));
                    at = span.upto;
                }
                prop_assert!(at <= *size);
                prop_assert_eq!(at, plan.advanced.get(&id).copied().unwrap_or(0));
            }
        }
    }
}
