//! What an acknowledgement ends, and what comes back without one.

use super::{Harness, acknowledge, assert_nothing_comes, consumer, ids, publish, take, within};
use crate::{Broker, BrokerError, Consumer};

/// After the acknowledgement of everything, the next consumer finds nothing.
pub async fn acknowledged_delivery_never_returns(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b"]).await;
    let mut first = consumer(&*broker, 0, 10).await;
    let deliveries = take(&mut *first, 2).await;
    acknowledge(&mut *first, &deliveries[1]).await;
    first.close().await;

    let mut second = consumer(&*broker, 0, 10).await;
    assert_nothing_comes(&mut *second).await;
}

/// A tag acknowledges itself and what came before it, nothing that came after.
pub async fn acknowledging_a_tag_acknowledges_the_prefix_only(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b", "c", "d"]).await;
    let mut first = consumer(&*broker, 0, 10).await;
    let deliveries = take(&mut *first, 4).await;
    acknowledge(&mut *first, &deliveries[1]).await;
    first.close().await;

    let mut second = assert_come_back(&*broker, &["c", "d"]).await;
    assert_nothing_comes(&mut *second).await;
}

/// A tag that was never given out ends the session, and its deliveries come again.
pub async fn acknowledging_an_unknown_tag_loses_the_session(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b"]).await;
    let mut first = consumer(&*broker, 0, 10).await;
    let deliveries = take(&mut *first, 2).await;
    let lost = within(first.acknowledge(deliveries[1].tag + 1)).await;
    assert_eq!(lost, Err(BrokerError::SessionLost));

    assert_come_back(&*broker, &["a", "b"]).await;
    let over = within(first.next_set(1)).await;
    assert_eq!(over, Err(BrokerError::SessionLost));
}

/// A tag already acknowledged is an unknown one.
pub async fn acknowledging_twice_loses_the_session(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b"]).await;
    let mut first = consumer(&*broker, 0, 10).await;
    let deliveries = take(&mut *first, 2).await;
    acknowledge(&mut *first, &deliveries[0]).await;
    let lost = within(first.acknowledge(deliveries[0].tag)).await;
    assert_eq!(lost, Err(BrokerError::SessionLost));

    assert_come_back(&*broker, &["b"]).await;
}

/// Closing gives everything back in order, marked, before what nobody has had yet.
pub async fn closed_consumer_gives_back_its_deliveries_marked(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b", "c"]).await;
    let mut first = consumer(&*broker, 0, 2).await;
    take(&mut *first, 2).await;
    first.close().await;

    let mut second = assert_come_back(&*broker, &["a", "b"]).await;
    let rest = take(&mut *second, 1).await;
    assert_eq!(ids(&rest), ["c"]);
    assert!(!rest[0].redelivered);
}

/// Dropping does what closing does.
pub async fn dropped_consumer_gives_back_its_deliveries_marked(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b", "c"]).await;
    let mut first = consumer(&*broker, 0, 2).await;
    take(&mut *first, 2).await;
    drop(first);

    let mut second = assert_come_back(&*broker, &["a", "b"]).await;
    let rest = take(&mut *second, 1).await;
    assert_eq!(ids(&rest), ["c"]);
    assert!(!rest[0].redelivered);
}

/// A new consumer must get these first, marked redelivered.
async fn assert_come_back(broker: &dyn Broker, expected: &[&str]) -> Box<dyn Consumer> {
    let mut next = consumer(broker, 0, 10).await;
    let deliveries = take(&mut *next, expected.len()).await;
    assert_eq!(ids(&deliveries), expected);
    assert!(deliveries.iter().all(|delivery| delivery.redelivered));
    next
}
