//! The way to the broker breaks in every way, and what is left when it is back.

use std::fs;
use std::time::{Duration, Instant};

use tessera_broker::conformance::Harness;
use tessera_broker::{Broker, BrokerError, PublishError};
use tessera_testbed::proxy::Way;
use tokio::sync::watch;
use tokio::time::timeout;

use super::harness::{Rabbit, ids, message, until, within};

/// What the process holds: descriptors, threads.
fn held() -> (usize, usize) {
    let count = |folder: &str| fs::read_dir(folder).map_or(0, Iterator::count);
    (count("/proc/self/fd"), count("/proc/self/task"))
}

/// Past the first outage, in which the library opens what it keeps once for the process.
async fn past_the_first_outage(rabbit: &Rabbit) {
    within(rabbit.back()).await;
    rabbit.proxy.reset().await;
    within(rabbit.back()).await;
}

/// Waits until the process holds no more than it did.
async fn assert_nothing_is_left(before: (usize, usize)) {
    until(async || {
        let now = held();
        now.0 <= before.0 && now.1 <= before.1
    })
    .await;
}

#[tokio::test]
async fn broker_that_is_away_from_the_start_is_used_once_it_is_there() {
    let rabbit = Rabbit::undeclared().await;
    rabbit.proxy.cut().await;
    assert!(matches!(within(rabbit.broker.declare()).await, Err(BrokerError::Away(_))));
    assert_eq!(within(rabbit.broker.publish(vec![message(0, "a")])).await, [Err(PublishError::Away)]);
    rabbit.proxy.restore();
    until(async || rabbit.broker.declare().await.is_ok()).await;
    within(rabbit.back()).await;
    assert_eq!(within(rabbit.broker.publish(vec![message(0, "a")])).await, [Ok(())]);
}

/// Each reset ends both connections, a consumer and a subscription.
#[tokio::test]
async fn fifty_cuts_leave_no_descriptor_and_no_thread() {
    let rabbit = Rabbit::start().await;
    past_the_first_outage(&rabbit).await;
    let before = held();
    for _ in 0..50 {
        let mut consumer = within(rabbit.broker.consume(0, 10)).await.unwrap();
        let mut wakes = within(rabbit.broker.wakes()).await.unwrap();
        rabbit.proxy.reset().await;
        assert_eq!(within(consumer.next_set(1)).await, Err(BrokerError::SessionLost));
        assert_eq!(within(wakes.next()).await, None);
        within(rabbit.back()).await;
    }
    assert_nothing_is_left(before).await;
    assert_eq!(within(rabbit.broker.publish(vec![message(0, "a")])).await, [Ok(())]);
}

/// The library's thread would wait for ever for a server that accepts and says nothing.
#[tokio::test]
async fn handshakes_without_an_answer_leave_no_descriptor_and_no_thread() {
    let rabbit = Rabbit::with(|options| options.url.push_str("?connection_timeout=300")).await;
    past_the_first_outage(&rabbit).await;
    let before = held();
    rabbit.proxy.cut().await;
    rabbit.proxy.hold(Way::ToClient);
    within(rabbit.proxy.made(8)).await;
    let away = BrokerError::Away("no connection in time".to_owned());
    assert_eq!(within(rabbit.broker.ping()).await, Err(away));
    // Held still: nothing ends them but this side.
    assert_nothing_is_left(before).await;
    rabbit.proxy.release();
    within(rabbit.back()).await;
}

/// Neither side closes, and nothing comes: only heartbeats tell.
#[tokio::test]
async fn silent_peer_is_noticed_by_heartbeats() {
    let rabbit = Rabbit::start().await;
    let mut consumer = within(rabbit.broker.consume(0, 10)).await.unwrap();
    rabbit.proxy.hold(Way::Both);
    let held = Instant::now();
    assert_eq!(within(consumer.next_set(1)).await, Err(BrokerError::SessionLost));
    let noticed = held.elapsed();
    assert!(noticed > Duration::from_secs(5) && noticed < Duration::from_secs(15), "{noticed:?}");
    rabbit.proxy.release();
    within(rabbit.back()).await;
}

/// Waiting grows with the outage, but not beyond 5 s.
#[tokio::test]
async fn connection_is_back_five_seconds_after_a_long_outage() {
    let rabbit = Rabbit::start().await;
    within(rabbit.back()).await;
    rabbit.stop().await;
    // Each of the two connections waits 1, 2 and then 4 s, the longest.
    within(rabbit.proxy.made(6)).await;
    rabbit.restart().await;
    let restored = Instant::now();
    within(rabbit.back()).await;
    assert!(restored.elapsed() < Duration::from_secs(5), "{:?}", restored.elapsed());
}

/// A message may come twice, but every one that was confirmed comes.
#[tokio::test]
async fn confirmed_messages_survive_cuts_while_publishing() {
    let rabbit = Rabbit::start().await;
    let (tell, told) = watch::channel(0);
    let publishing = async {
        let mut confirmed = vec![];
        for number in 0..200 {
            let id = number.to_string();
            while within(rabbit.broker.publish(vec![message(0, &id)])).await != [Ok(())] {
                within(rabbit.back()).await;
            }
            confirmed.push(id);
            tell.send_replace(confirmed.len());
        }
        confirmed
    };
    let cutting = async {
        for cut in 1..=5 {
            until(async || *told.borrow() >= 30 * cut).await;
            rabbit.proxy.reset().await;
            within(rabbit.back()).await;
        }
    };
    let (confirmed, ()) = tokio::join!(publishing, cutting);
    let mut consumer = within(rabbit.broker.consume(0, 256)).await.unwrap();
    let mut arrived: Vec<String> = vec![];
    while !confirmed.iter().all(|id| arrived.contains(id)) {
        let set = within(consumer.next_set(256)).await.unwrap();
        arrived.extend(ids(&set).into_iter().map(ToOwned::to_owned));
        within(consumer.acknowledge(set.last().unwrap().tag)).await.unwrap();
    }
    arrived.dedup();
    assert_eq!(arrived, confirmed, "in order, and doubled at most");
}

/// The library leaves a request unanswered that it is handed while its connection ends.
#[tokio::test]
async fn request_that_meets_the_end_of_its_connection_does_not_wait_out_its_bound() {
    const PROMPT: Duration = Duration::from_secs(3);
    let rabbit = Rabbit::start().await;
    for _ in 0..20 {
        within(rabbit.back()).await;
        // It asks both connections, which may not have noticed yet.
        timeout(PROMPT, rabbit.stop()).await.expect("whoever asks is told that the broker is away");
        rabbit.restart().await;
    }
}
