//! How deliveries come to the active consumer.

use super::{Harness, acknowledge, assert_nothing_comes, assert_waits, consumer, ids, publish, take, within};

/// First published, first delivered, with ascending tags, across publications and sets.
pub async fn deliveries_come_in_order(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut consumer = consumer(&*broker, 0, 10).await;
    publish(&*broker, 0, &["a", "b"]).await;
    publish(&*broker, 0, &["c"]).await;
    let mut deliveries = take(&mut *consumer, 2).await;
    publish(&*broker, 0, &["d"]).await;
    deliveries.extend(take(&mut *consumer, 2).await);

    assert_eq!(ids(&deliveries), ["a", "b", "c", "d"]);
    assert!(deliveries.is_sorted_by(|earlier, later| earlier.tag < later.tag));
}

/// However much is ready, a set has at most as many deliveries as asked, and at least one.
pub async fn set_holds_at_most_max(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b", "c", "d", "e"]).await;
    let mut consumer = consumer(&*broker, 0, 10).await;

    let mut deliveries = Vec::new();
    for max in [0, 1, 2, 2, 2] {
        if deliveries.len() == 5 {
            break;
        }
        let set = within(consumer.next_set(max)).await.expect("a set comes");
        assert!((1..=max.max(1)).contains(&set.len()), "{} of {max}", set.len());
        deliveries.extend(set);
    }
    let rest = take(&mut *consumer, 5 - deliveries.len()).await;
    deliveries.extend(rest);
    assert_eq!(ids(&deliveries), ["a", "b", "c", "d", "e"]);
}

/// One message that is ready is a set; it does not wait for company.
pub async fn set_does_not_wait_to_fill(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut consumer = consumer(&*broker, 0, 10).await;
    publish(&*broker, 0, &["a"]).await;
    let set = within(consumer.next_set(10)).await.expect("a set comes");
    assert_eq!(ids(&set), ["a"]);
}

/// A consumer that waits at an empty queue gets what is published then.
pub async fn waiting_consumer_wakes_for_a_message(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut consumer = consumer(&*broker, 0, 10).await;
    let mut waiting = consumer.next_set(10);
    assert_waits(&mut waiting).await;
    publish(&*broker, 0, &["a"]).await;
    assert_eq!(ids(&within(waiting).await.expect("a set comes")), ["a"]);
}

/// No more deliveries than the prefetch are unacknowledged; a prefetch of 0 counts as 1.
pub async fn prefetch_bounds_the_unacknowledged(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b", "c", "d"]).await;
    for (prefetch, expected) in [(0, vec!["a"]), (2, vec!["a", "b"])] {
        let mut consumer = consumer(&*broker, 0, prefetch).await;
        assert_eq!(ids(&take(&mut *consumer, expected.len()).await), expected);
        assert_nothing_comes(&mut *consumer).await;
        consumer.close().await;
    }

    let mut consumer = consumer(&*broker, 0, 2).await;
    let deliveries = take(&mut *consumer, 2).await;
    acknowledge(&mut *consumer, &deliveries[0]).await;
    assert_eq!(ids(&take(&mut *consumer, 1).await), ["c"]);
    assert_nothing_comes(&mut *consumer).await;
}

/// A `next_set` dropped while it waits, even after a message came, has taken nothing.
pub async fn abandoned_wait_loses_no_delivery(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut consumer = consumer(&*broker, 0, 10).await;
    let mut waiting = consumer.next_set(10);
    assert_waits(&mut waiting).await;
    publish(&*broker, 0, &["a", "b"]).await;
    drop(waiting);
    assert_eq!(ids(&take(&mut *consumer, 2).await), ["a", "b"]);
}
