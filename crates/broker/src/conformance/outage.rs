//! The broker goes away in the middle, and comes back.

use super::{Harness, acknowledge, assert_waits, consumer, ids, message, publish, take, until, within};
use crate::{BrokerError, PublishError};

/// While it is away, everything says so and nothing hangs.
pub async fn stopped_broker_answers_with_errors(harness: &dyn Harness) {
    let broker = harness.broker().await;
    within(broker.ping()).await.expect("it answers");
    harness.stop().await;

    let results = within(broker.publish(vec![message(0, "a"), message(0, "b")])).await;
    assert_eq!(results, [Err(PublishError::Away), Err(PublishError::Away)]);
    let away = |error| matches!(error, Some(BrokerError::Away(_)));
    assert!(away(within(broker.consume(0, 1)).await.err()));
    assert!(away(within(broker.wake(Vec::new())).await.err()));
    assert!(away(within(broker.wakes()).await.err()));
    assert!(away(within(broker.depth(0)).await.err()));
    assert!(away(within(broker.ping()).await.err()));

    harness.restart().await;
    until(async || broker.ping().await.is_ok()).await;
}

/// Whatever was not acknowledged is there after the restart; what had been taken is marked.
pub async fn restarted_broker_has_every_unacknowledged_message(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b", "c", "d"]).await;
    let mut before = consumer(&*broker, 0, 2).await;
    let deliveries = take(&mut *before, 2).await;
    acknowledge(&mut *before, &deliveries[0]).await;
    // The prefetch lets it come only once the broker has seen the acknowledgement.
    assert_eq!(ids(&take(&mut *before, 1).await), ["c"]);
    harness.stop().await;
    assert!(within(before.acknowledge(deliveries[1].tag)).await.is_err());
    harness.restart().await;
    until(async || broker.ping().await.is_ok()).await;

    let mut after = consumer(&*broker, 0, 10).await;
    let again = take(&mut *after, 3).await;
    assert_eq!(ids(&again), ["b", "c", "d"]);
    assert!(again[0].redelivered && again[1].redelivered && !again[2].redelivered);
    publish(&*broker, 0, &["e"]).await;
    assert_eq!(ids(&take(&mut *after, 1).await), ["e"]);
    // The old session's end does not touch the new one's deliveries.
    drop(before);
    acknowledge(&mut *after, &again[2]).await;
}

/// A consumer that waits, active or standing by, is told that its session is over.
pub async fn waiting_consumer_hears_of_the_stop(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut active = consumer(&*broker, 0, 1).await;
    let mut standby = consumer(&*broker, 0, 1).await;
    let (mut waiting, mut waiting_too) = (active.next_set(1), standby.next_set(1));
    assert_waits(&mut waiting).await;
    assert_waits(&mut waiting_too).await;
    harness.stop().await;
    assert!(within(waiting).await.is_err());
    assert!(within(waiting_too).await.is_err());

    harness.restart().await;
    until(async || broker.ping().await.is_ok()).await;
    assert!(within(active.next_set(1)).await.is_err(), "a session never comes back to life");
}

/// A subscriber is told, so that it can subscribe again.
pub async fn subscription_ends_with_the_stop(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut wakes = within(broker.wakes()).await.expect("it subscribes");
    let mut waiting = wakes.next();
    assert_waits(&mut waiting).await;
    harness.stop().await;
    assert_eq!(within(waiting).await, None);
    for _ in 0..3 {
        assert_eq!(within(wakes.next()).await, None, "it stays lost");
    }

    harness.restart().await;
    until(async || broker.ping().await.is_ok()).await;
    let mut wakes = within(broker.wakes()).await.expect("it subscribes again");
    within(broker.wake(b"up".to_vec())).await.expect("it is sent");
    assert_eq!(within(wakes.next()).await.as_deref(), Some(b"up".as_slice()));
}
