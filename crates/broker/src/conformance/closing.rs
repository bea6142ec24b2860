//! A broker's beginning and its orderly end.

use super::{Harness, assert_nothing_comes, assert_waits, consumer, ids, message, publish, take, within};
use crate::{BrokerError, Found, PublishError};

/// Every issuer declares, whoever was first; what is queued stays.
pub async fn declaring_again_is_no_error(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a"]).await;
    assert_eq!(within(broker.declare()).await, Ok(()));
    assert_eq!(within(broker.declare()).await, Ok(()));
    let mut consumer = consumer(&*broker, 0, 1).await;
    assert_eq!(ids(&take(&mut *consumer, 1).await), ["a"]);
}

/// After a declaration nothing is missing and nothing differs.
pub async fn topology_is_as_wanted_once_declared(harness: &dyn Harness) {
    let broker = harness.broker().await;
    within(broker.declare()).await.expect("it declares");
    let findings = within(broker.topology()).await.expect("it looks");
    let fine = |found: &Found| matches!(found, Found::AsWanted | Found::Noted(_));
    assert!(findings.iter().all(|finding| fine(&finding.found)), "{findings:?}");
}

/// While nothing was given up there is nothing to archive, and the archive waits for it.
pub async fn dead_letter_consumer_waits_until_the_stop(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["alive"]).await;
    let mut dead = within(broker.consume_dead(10)).await.expect("it registers");
    assert_nothing_comes(&mut *dead).await;
    let mut waiting = dead.next_set(10);
    assert_waits(&mut waiting).await;
    harness.stop().await;
    assert!(within(waiting).await.is_err());
    harness.restart().await;
}

/// After the close nothing works any more, and every call says that it is of no use.
pub async fn closed_broker_says_so(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a"]).await;
    within(broker.close()).await;
    within(broker.close()).await;

    assert_eq!(within(broker.publish(vec![message(0, "b")])).await, [Err(PublishError::Away)]);
    let closed = Some(BrokerError::Closed);
    assert_eq!(within(broker.declare()).await.err(), closed);
    assert_eq!(within(broker.topology()).await.err(), closed);
    assert_eq!(within(broker.consume(0, 1)).await.err(), closed);
    assert_eq!(within(broker.consume_dead(1)).await.err(), closed);
    assert_eq!(within(broker.wake(Vec::new())).await.err(), closed);
    assert_eq!(within(broker.wakes()).await.err(), closed);
    assert_eq!(within(broker.depth(0)).await.err(), closed);
    assert_eq!(within(broker.ping()).await.err(), closed);
}

/// Who waits is told, and told that it is for good.
pub async fn closing_ends_sessions_and_subscriptions(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut consumer = consumer(&*broker, 0, 1).await;
    let mut wakes = within(broker.wakes()).await.expect("it subscribes");
    let (mut waiting, mut listening) = (consumer.next_set(1), wakes.next());
    assert_waits(&mut waiting).await;
    assert_waits(&mut listening).await;
    within(broker.close()).await;
    assert_eq!(within(waiting).await, Err(BrokerError::Closed));
    assert_eq!(within(listening).await, None);
}
