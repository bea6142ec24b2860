//! The queue against the one fact that says it all: nothing is lost, doubled or reordered.

use proptest::prelude::*;

use super::{super::tests::message, Queue};

const CAPACITY: usize = 20;

#[derive(Debug, Clone)]
enum Op {
    Push,
    Register { prefetch: u16 },
    Take { session: u64, max: usize },
    AcknowledgeSome { session: u64, nth: u64 },
    End { session: u64 },
    EndAll,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let session = || 1..6_u64;
    let op = prop_oneof![
        6 => Just(Op::Push),
        2 => (0..4_u16).prop_map(|prefetch| Op::Register { prefetch }),
        6 => (session(), 0..4_usize).prop_map(|(session, max)| Op::Take { session, max }),
        4 => (session(), 0..4_u64).prop_map(|(session, nth)| Op::AcknowledgeSome { session, nth }),
        2 => session().prop_map(|session| Op::End { session }),
        1 => Just(Op::EndAll),
    ];
    proptest::collection::vec(op, 0..120)
}

/// Acknowledges up to the `nth` unacknowledged delivery, or an unknown tag if there are fewer.
fn acknowledge_some(queue: &mut Queue, session: u64, nth: u64, acknowledged: &mut Vec<String>) {
    let held: Vec<(u64, String)> = queue
        .sessions
        .iter()
        .filter(|candidate| candidate.id == session)
        .flat_map(|session| session.unacknowledged.iter().map(|(tag, held)| (*tag, held.message_id.clone())))
        .collect();
    let tag = held.first().map_or(1, |(tag, _)| tag + nth);
    if queue.acknowledge(session, tag).is_ok() {
        acknowledged.extend(held.into_iter().take_while(|(held, _)| *held <= tag).map(|(_, id)| id));
    }
}

fn held(queue: &Queue) -> Vec<String> {
    let unacknowledged =
        queue.sessions.iter().flat_map(|session| &session.unacknowledged).map(|(_, held)| held);
    unacknowledged.chain(&queue.ready).map(|held| held.message_id.clone()).collect()
}

proptest! {
    #[test]
    fn acknowledged_then_held_is_what_was_published_in_order(ops in ops()) {
        let mut queue = Queue::new(CAPACITY);
        let (mut published, mut acknowledged) = (Vec::new(), Vec::new());
        for op in ops {
            match op {
                Op::Push => {
                    let id = published.len().to_string();
                    let fits = held(&queue).len() < CAPACITY;
                    prop_assert_eq!(queue.push(message(0, &id)).is_ok(), fits);
                    published.extend(fits.then_some(id));
                }
                Op::Register { prefetch } => { queue.register(prefetch); }
                Op::Take { session, max } => {
                    let set = queue.take(session, max).unwrap_or_default();
                    prop_assert!(set.len() <= max.max(1));
                }
                Op::AcknowledgeSome { session, nth } => acknowledge_some(&mut queue, session, nth, &mut acknowledged),
                Op::End { session } => queue.end(session),
                Op::EndAll => queue.end_all(),
            }
            prop_assert_eq!([acknowledged.clone(), held(&queue)].concat(), published.clone());
            prop_assert!(queue.sessions.iter().skip(1).all(|standby| standby.unacknowledged.is_empty()));
            prop_assert!(queue.sessions.iter().all(|session| session.unacknowledged.len() <= session.prefetch));
        }
    }
}
