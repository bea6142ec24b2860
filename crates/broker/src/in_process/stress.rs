//! Many publishers and consumers at once, sessions ending at random, the broker stopping in between.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{
    sync::watch,
    task::{JoinSet, yield_now},
    time::timeout,
};

use super::{InProcess, tests::message};
use crate::{Broker, Consumer, Message};

const PARTITIONS: u16 = 2;
const PUBLISHERS: u64 = 4;
const CONSUMERS: u64 = 6;
const MESSAGES: usize = 2_000;
const CAPACITY: usize = 64;
const WITHIN: Duration = Duration::from_secs(30);

/// How often each id was acknowledged.
type Acknowledged = watch::Sender<HashMap<String, u32>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_message_is_acknowledged_exactly_once_whatever_ends() {
    let broker = Arc::new(InProcess::with_capacity(PARTITIONS, CAPACITY));
    let (acknowledged, mut watched) = watch::channel(HashMap::new());
    let mut publishers: JoinSet<()> =
        (0..PUBLISHERS).map(|seed| publish_all(Arc::clone(&broker), seed)).collect();
    let mut consumers: JoinSet<()> =
        (0..CONSUMERS).map(|seed| consume(Arc::clone(&broker), seed, acknowledged.clone())).collect();

    let counts = timeout(WITHIN, async {
        while let Some(published) = publishers.join_next().await {
            published.unwrap();
            broker.stop();
            yield_now().await;
            broker.restart();
        }
        let total = MESSAGES * usize::try_from(PUBLISHERS).unwrap();
        watched.wait_for(|counts| counts.len() == total).await.unwrap().clone()
    });
    let counts = counts.await.expect("none is lost");
    consumers.shutdown().await;
    assert!(counts.values().all(|count| *count == 1), "none is acknowledged twice");
    assert_eq!((broker.depth(0).await, broker.depth(1).await), (Ok(0), Ok(0)));
}

/// Publishes in random sets; again what found no room, or no broker.
async fn publish_all(broker: Arc<InProcess>, publisher: u64) {
    let mut rng = StdRng::seed_from_u64(publisher);
    let mut left: Vec<Message> = (0..MESSAGES)
        .map(|number| message(rng.random_range(0..PARTITIONS), &format!("{publisher}/{number}")))
        .collect();
    while !left.is_empty() {
        let set = left.split_off(left.len().saturating_sub(rng.random_range(1..20)));
        let results = broker.publish(set.clone()).await;
        left.extend(
            set.into_iter().zip(results).filter(|(_, result)| result.is_err()).map(|(message, _)| message),
        );
        yield_now().await;
    }
}

/// Consumes in one session after another, until it is aborted.
async fn consume(broker: Arc<InProcess>, seed: u64, acknowledged: Acknowledged) {
    let mut rng = StdRng::seed_from_u64(1_000 + seed);
    loop {
        let partition = rng.random_range(0..PARTITIONS);
        if let Ok(mut consumer) = broker.consume(partition, rng.random_range(1..40)).await {
            session(&mut *consumer, &mut rng, &acknowledged).await;
        }
        yield_now().await;
    }
}

/// Takes and acknowledges, until it is told to, tired of waiting, or no longer in the mood.
async fn session(consumer: &mut dyn Consumer, rng: &mut StdRng, acknowledged: &Acknowledged) {
    let mut held = VecDeque::new();
    while !rng.random_ratio(1, 10) {
        let max = rng.random_range(1..30);
        let set = tokio::select! {
            set = consumer.next_set(max) => set,
            () = patience() => return,
        };
        let Ok(set) = set else { return };
        held.extend(set.into_iter().filter_map(|delivery| Some((delivery.tag, delivery.message_id?))));
        let some = rng.random_range(1..=held.len());
        if consumer.acknowledge(held[some - 1].0).await.is_err() {
            return;
        }
        acknowledged.send_modify(|counts| {
            for (_, id) in held.drain(..some) {
                *counts.entry(id).or_default() += 1;
            }
        });
    }
}

async fn patience() {
    for _ in 0..100 {
        yield_now().await;
    }
}
