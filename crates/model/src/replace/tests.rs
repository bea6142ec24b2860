//! Replacing: which codes a line gets, and what is refused.

use super::*;
use crate::ids::ProductId;
use crate::time::Timestamp;

fn id(n: u8) -> BatchId {
    BatchId::new(Timestamp::from_micros(1), [n; 10])
}

fn open(n: u8, issued: i64, size: i64, voided: Vec<i64>) -> OpenBatch {
    OpenBatch { id: id(n), product: ProductId::new(Timestamp::from_micros(1), [9; 10]), size, issued, voided }
}

fn faulty(positions: &[i64]) -> Faulty {
    let order = OrderId::new(Timestamp::from_micros(1), [7; 10]);
    Faulty { order, line: 1, positions: positions.iter().copied().collect(), force: false }
}

/// Three codes of batch 1, then two of batch 2.
fn held() -> Vec<Held> {
    vec![
        Held { batch: id(1), start: 5, upto: 8, part: 0, replaced: vec![] },
        Held { batch: id(2), start: 0, upto: 2, part: 1, replaced: vec![1] },
    ]
}

const fn stock(unissued: i64, claimed: i64) -> Stock {
    Stock { unissued, claimed, endless: false }
}

#[test]
fn each_old_code_gets_one_new_and_keeps_its_place() {
    let mut batches = [open(2, 2, 4, vec![2]), open(3, 0, 9, vec![])];
    let replaced = replace(&faulty(&[1, 3, 4]), &held(), stock(10, 0), &mut batches).unwrap();
    let kinds: Vec<_> = replaced.spans.iter().map(|s| (s.batch, s.start, s.upto, s.kind)).collect();
    let expected = [
        (id(2), 2, 3, SpanKind::Void),
        (id(2), 3, 4, SpanKind::Replacement),
        (id(3), 0, 2, SpanKind::Replacement),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(replaced.old, [(id(1), 5, 2), (id(1), 7, 3), (id(2), 0, 3)]);
    assert_eq!(replaced.positions, [6, 7, 8]);
    assert_eq!(replaced.advanced, BTreeMap::from([(id(2), 4), (id(3), 2)]));
}

#[test]
fn what_others_claim_is_not_given_unless_it_is_forced() {
    let refused = replace(&faulty(&[1]), &held(), stock(3, 3), &mut [open(3, 0, 3, vec![])]);
    assert_eq!(refused, Err(CannotReplace::NoStock { left: 0, needed: 1 }));
    let forced = Faulty { force: true, ..faulty(&[1]) };
    assert!(replace(&forced, &held(), stock(3, 3), &mut [open(3, 0, 3, vec![])]).is_ok());
    let empty = replace(&forced, &held(), stock(0, 3), &mut []);
    assert_eq!(empty, Err(CannotReplace::NoStock { left: 0, needed: 1 }));
}

#[test]
fn a_code_that_is_not_there_or_was_replaced_is_named() {
    let wrong = |positions: &[i64]| replace(&faulty(positions), &held(), stock(9, 0), &mut []).unwrap_err();
    assert_eq!(wrong(&[5]), CannotReplace::Replaced(5));
    for position in [0, -1, 6, i64::MAX, i64::MIN] {
        assert_eq!(wrong(&[position]), CannotReplace::NoPosition { position, last: 5 });
    }
    assert_eq!(wrong(&[]), CannotReplace::Count);
}
