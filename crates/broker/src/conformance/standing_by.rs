//! One active consumer per partition, and who follows it.

use super::{Harness, acknowledge, assert_nothing_comes, assert_waits, consumer, ids, publish, take, within};

/// While one consumer is active, with room for more or without, another gets nothing.
pub async fn only_one_consumer_is_active(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut active = consumer(&*broker, 0, 2).await;
    let mut standby = consumer(&*broker, 0, 10).await;
    publish(&*broker, 0, &["a", "b", "c", "d"]).await;
    assert_nothing_comes(&mut *standby).await;

    let first = take(&mut *active, 1).await;
    assert_nothing_comes(&mut *standby).await;
    take(&mut *active, 1).await;
    assert_nothing_comes(&mut *standby).await;
    acknowledge(&mut *active, &first[0]).await;
    assert_eq!(ids(&take(&mut *active, 1).await), ["c"]);
    assert_nothing_comes(&mut *standby).await;
}

/// A standby that already waits gets what the active one gives back, then the rest.
pub async fn standby_takes_over_when_the_active_closes(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut active = consumer(&*broker, 0, 1).await;
    let mut standby = consumer(&*broker, 0, 10).await;
    publish(&*broker, 0, &["a", "b"]).await;
    take(&mut *active, 1).await;

    let mut waiting = standby.next_set(1);
    assert_waits(&mut waiting).await;
    active.close().await;
    let returned = within(waiting).await.expect("a set comes");
    assert_eq!(ids(&returned), ["a"]);
    assert!(returned[0].redelivered);
    assert_eq!(ids(&take(&mut *standby, 1).await), ["b"]);
}

/// Dropping the active consumer activates the standby as well.
pub async fn standby_takes_over_when_the_active_is_dropped(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let active = consumer(&*broker, 0, 10).await;
    let mut standby = consumer(&*broker, 0, 10).await;
    let mut waiting = standby.next_set(10);
    assert_waits(&mut waiting).await;
    drop(active);
    publish(&*broker, 0, &["a"]).await;
    assert_eq!(ids(&within(waiting).await.expect("a set comes")), ["a"]);
}

/// The longest registered goes first; one that left before its turn is passed over.
pub async fn standbys_take_over_in_order_of_registration(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let first = consumer(&*broker, 0, 10).await;
    let left = consumer(&*broker, 0, 10).await;
    let mut second = consumer(&*broker, 0, 10).await;
    let mut third = consumer(&*broker, 0, 10).await;
    left.close().await;
    first.close().await;
    publish(&*broker, 0, &["a"]).await;

    assert_eq!(ids(&take(&mut *second, 1).await), ["a"]);
    assert_nothing_comes(&mut *third).await;
    second.close().await;
    assert_eq!(ids(&take(&mut *third, 1).await), ["a"]);
}
