//! Which transitions are drawn when: mostly such as mean something to the shop as it is.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::{BoxedStrategy, Union};
use proptest_state_machine::ReferenceStateMachine;

use super::catalogue::{ARTICLES, BUYERS, Sort};
use super::model::Model;
use super::transition::{Act, Change, Deed, Fault, File, New, Payment, Sum, Told, Transition, Work};

/// Orders that nobody places.
const UNKNOWN: std::ops::Range<usize> = 9_000..9_003;

/// Different idempotency keys.
const KEYS: u8 = 4;

/// The reference as what draws scripts.
pub(super) struct Reference;

impl ReferenceStateMachine for Reference {
    type State = Model;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model::default()).boxed()
    }

    fn transitions(model: &Model) -> BoxedStrategy<Transition> {
        (act(model), option::weighted(0.12, fault()))
            .prop_map(|(act, fault)| {
                let fault = fault.filter(|_| can_fail(&act));
                Transition { act, fault }
            })
            .boxed()
    }

    fn apply(model: Model, transition: &Transition) -> Model {
        model.after(transition)
    }

    /// What shrinking may break.
    fn preconditions(model: &Model, transition: &Transition) -> bool {
        match &transition.act {
            Act::Place(set) => !set.is_empty() && set.iter().all(|new| model.is_free(new.order)),
            Act::Pay(set) => !set.is_empty() && set.iter().all(|payment| is_in_turn(model, payment)),
            Act::Told(told) => model.refundable().contains(&told.reference),
            Act::Import(file) => match &file.again {
                Some((article, codes)) => codes.end <= model.imported(*article),
                None => file.fresh > 0,
            },
            Act::Kill { .. } => !model.queue.is_empty() && !model.is_worn(),
            _ => true,
        }
    }
}

/// A reference is new before it comes again.
fn is_in_turn(model: &Model, payment: &Payment) -> bool {
    match payment {
        Payment::Notice { reference, .. } => !model.notices.contains_key(reference),
        Payment::Again { reference, .. } => model.notices.contains_key(reference),
        Payment::Test { .. } => true,
    }
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![Just(Fault::Refused), Just(Fault::DoubtNotDone), Just(Fault::DoubtDone), Just(Fault::Lost)]
}

fn can_fail(act: &Act) -> bool {
    match act {
        Act::Place(_)
        | Act::Pay(_)
        | Act::Cancel(_)
        | Act::Deed(..)
        | Act::Told(_)
        | Act::Expire
        | Act::Import(_)
        | Act::Issue(_) => true,
        Act::Wait(_)
        | Act::Look
        | Act::Tell(_)
        | Act::Sweep
        | Act::Deliver
        | Act::Kill { .. }
        | Act::Purge
        | Act::Crash => false,
    }
}

fn act(model: &Model) -> impl Strategy<Value = Act> + use<> {
    let mut acts: Vec<(u32, BoxedStrategy<Act>)> = vec![
        (24, place(model)),
        (24, payments(model)),
        (6, any_order(model).prop_map(Act::Cancel).boxed()),
        (7, deed(model).boxed()),
        (10, seconds().prop_map(Act::Wait).boxed()),
        (2, Just(Act::Look).boxed()),
        (5, Just(Act::Expire).boxed()),
        (9, import(model)),
        (5, work(model).prop_map(Act::Tell).boxed()),
        (6, Just(Act::Sweep).boxed()),
        (10, Just(Act::Deliver).boxed()),
        (1, Just(Act::Purge).boxed()),
        (8, vec(work(model), 1..5).prop_map(Act::Issue).boxed()),
        (2, Just(Act::Crash).boxed()),
    ];
    if !model.queue.is_empty() && !model.is_worn() {
        acts.push((3, any::<bool>().prop_map(|done| Act::Kill { done }).boxed()));
    }
    let refundable = model.refundable();
    if !refundable.is_empty() {
        acts.push((8, told(refundable).boxed()));
    }
    Union::new_weighted(acts)
}

/// Bounds of the sweeper, of holds, and of keys, a little less and a little more.
fn seconds() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => prop_oneof![Just(1), Just(4), Just(61)],
        5 => prop_oneof![Just(1), Just(4), Just(5), Just(10), Just(15)].prop_map(|minutes| minutes * 60),
        1 => Just(49 * 3_600),
    ]
}

/// The last few more often than those of long ago; now and then one that is not there.
fn any_order(model: &Model) -> BoxedStrategy<usize> {
    let next = model.next_order;
    if next == 0 {
        return UNKNOWN.boxed();
    }
    prop_oneof![12 => next.saturating_sub(6)..next, 5 => 0..next, 1 => UNKNOWN].boxed()
}

fn deed(model: &Model) -> impl Strategy<Value = Act> + use<> {
    let deed = prop_oneof![3 => Just(Deed::Refund), 4 => Just(Deed::Accept), 1 => Just(Deed::Cancel)];
    (deed, any_order(model)).prop_map(|(deed, order)| Act::Deed(deed, order))
}

/// Few names and amounts, so that they come again, also by the other who tells.
fn told(refundable: Vec<usize>) -> impl Strategy<Value = Act> {
    let minor = prop_oneof![Just(100_i64), Just(250), Just(1_000), 1..1_500_i64];
    let (reference, name) = (proptest::sample::select(refundable), 0..6_u8);
    (any::<bool>(), reference, name, minor, option::weighted(0.6, Just(()))).prop_map(
        |(by_hand, reference, name, minor, said)| {
            let minor = Some(minor).filter(|_| !by_hand || said.is_some());
            Act::Told(Told { by_hand, reference, name, minor })
        },
    )
}

fn article() -> impl Strategy<Value = usize> + Clone {
    prop_oneof![6 => 0..4_usize, 4 => 4..ARTICLES.len()]
}

fn work(model: &Model) -> impl Strategy<Value = Work> + use<> {
    prop_oneof![4 => any_order(model).prop_map(Work::Order), 1 => article().prop_map(Work::Stock)]
}

/// One to three at once, numbered from `first`; the shorter script has fewer of them, under the same numbers.
fn at_once<S: Strategy + Clone>(one: S, first: usize) -> impl Strategy<Value = Vec<(usize, S::Value)>> {
    let maybe = |weight| option::weighted(weight, one.clone());
    (maybe(0.98), maybe(0.2), maybe(0.1)).prop_map(move |(a, b, c)| {
        (first..).zip([a, b, c]).filter_map(|(number, one)| Some((number, one?))).collect()
    })
}

fn place(model: &Model) -> BoxedStrategy<Act> {
    let one = prop_oneof![9 => new().boxed(), 1 => repeated(model)];
    at_once(one, model.next_order)
        .prop_map(|set| Act::Place(set.into_iter().map(|(order, new)| New { order, ..new }).collect()))
        .boxed()
}

fn new() -> impl Strategy<Value = New> + Clone {
    let lines = vec((article(), 1..4_i64), 1..4);
    let key = option::weighted(0.25, 0..KEYS);
    (0..BUYERS.len(), lines, key).prop_map(|(buyer, lines, key)| New { order: 0, buyer, lines, key })
}

/// A request that was made before, under its key.
fn repeated(model: &Model) -> BoxedStrategy<New> {
    let known: Vec<New> = model
        .keys
        .iter()
        .map(|(key, ((buyer, lines), _, _))| New {
            order: 0,
            buyer: *buyer,
            lines: lines.clone(),
            key: Some(*key),
        })
        .collect();
    if known.is_empty() { new().boxed() } else { proptest::sample::select(known).boxed() }
}

fn payments(model: &Model) -> BoxedStrategy<Act> {
    let reference = model.notices.len();
    let first = model.notices.keys().last().map_or(reference, |last| last + 1);
    let fresh = (any_order(model), at_once(sum(), first), any::<u8>()).prop_map(|(order, sums, odd)| {
        let foreign = odd < 12;
        let notice = |(reference, sum)| Payment::Notice { reference, order, sum, foreign };
        Act::Pay(sums.into_iter().map(notice).collect())
    });
    let test = (any_order(model), 1..3_usize)
        .prop_map(|(order, count)| Act::Pay(vec![Payment::Test { order }; count]));
    if model.notices.is_empty() {
        return prop_oneof![5 => fresh, 1 => test].boxed();
    }
    let known: Vec<usize> = model.notices.keys().copied().collect();
    let change = prop_oneof![
        3 => Just(Change::None),
        1 => (1..3_i64).prop_map(Change::More),
        1 => any_order(model).prop_map(Change::Order)
    ];
    let again = (proptest::sample::select(known), change)
        .prop_map(|(reference, change)| Act::Pay(vec![Payment::Again { reference, change }]));
    prop_oneof![10 => fresh, 2 => test, 3 => again].boxed()
}

fn sum() -> impl Strategy<Value = Sum> + Clone {
    prop_oneof![
        6 => Just(Sum::Exact),
        2 => Just(Sum::Rest),
        3 => prop_oneof![Just(1), Just(250), Just(600)].prop_map(Sum::Less),
        1 => (1..500_i64).prop_map(Sum::More),
    ]
}

fn import(model: &Model) -> BoxedStrategy<Act> {
    let imported: Vec<usize> = (0..ARTICLES.len()).map(|article| model.imported(article)).collect();
    let imported_ones = || {
        article().prop_filter("codes that are computed come in no file", |article| {
            ARTICLES[*article].sort == Sort::Imported
        })
    };
    let fresh = (imported_ones(), 1..8_usize);
    let fresh = fresh.prop_map(|(article, fresh)| Act::Import(File { article, fresh, again: None }));
    let of_files = |article: &usize| ARTICLES[*article].sort == Sort::Imported && imported[*article] > 0;
    let known: Vec<usize> = (0..ARTICLES.len()).filter(of_files).collect();
    if known.is_empty() {
        return fresh.boxed();
    }
    let again =
        (imported_ones(), 0..3_usize, proptest::sample::select(known), any::<[proptest::sample::Index; 2]>());
    let again = again.prop_map(move |(article, fresh, of, ends)| {
        let (one, other) = (ends[0].index(imported[of]), ends[1].index(imported[of]));
        Act::Import(File { article, fresh, again: Some((of, one.min(other)..one.max(other) + 1)) })
    });
    prop_oneof![5 => fresh, 1 => again].boxed()
}
