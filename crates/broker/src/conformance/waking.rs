//! Wake-ups: transient, to everyone who listens.

use super::{Harness, within};

/// Every subscriber gets its own copy.
pub async fn wake_reaches_each_subscriber(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut here = within(broker.wakes()).await.expect("it subscribes");
    let mut there = within(broker.wakes()).await.expect("it subscribes");
    within(broker.wake(b"up".to_vec())).await.expect("it is sent");

    assert_eq!(within(here.next()).await.as_deref(), Some(b"up".as_slice()));
    assert_eq!(within(there.next()).await.as_deref(), Some(b"up".as_slice()));
}

/// Nobody needs to listen; who comes later does not hear it.
pub async fn wake_without_a_subscriber_is_no_error(harness: &dyn Harness) {
    let broker = harness.broker().await;
    within(broker.wake(b"unheard".to_vec())).await.expect("it is sent");

    let mut wakes = within(broker.wakes()).await.expect("it subscribes");
    within(broker.wake(b"heard".to_vec())).await.expect("it is sent");
    assert_eq!(within(wakes.next()).await.as_deref(), Some(b"heard".as_slice()));
}

/// A subscriber that keeps up hears them in the order they were sent.
pub async fn wakes_come_in_order(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut wakes = within(broker.wakes()).await.expect("it subscribes");
    for body in [b"1", b"2", b"3"] {
        within(broker.wake(body.to_vec())).await.expect("it is sent");
    }
    for body in [b"1", b"2", b"3"] {
        assert_eq!(within(wakes.next()).await.as_deref(), Some(body.as_slice()));
    }
}
