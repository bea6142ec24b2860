//! What every twin of the seam must do, as one suite.
//!
//! A twin supplies a [`Harness`] and calls [`conformance_suite!`](crate::conformance_suite); each
//! case becomes a test. The cases fit a broker over a network: they wait for what must come (up to
//! `WITHIN`), and watch for `QUIET` where nothing may come. What only one twin does (bounds, purge)
//! is tested beside that twin.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a case that fails panics; that is its use"
)]

pub mod acknowledging;
pub mod closing;
pub mod consuming;
pub mod outage;
pub mod publishing;
pub mod standing_by;
pub mod waking;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::time::{sleep, timeout};

use crate::{Broker, Consumer, Delivery, Message};

/// The partitions a harness's broker must have: `0..PARTITIONS`, empty at the start of a case.
pub const PARTITIONS: u16 = 2;

/// How long a case waits for what must come.
const WITHIN: Duration = Duration::from_secs(10);
/// How long a case watches that nothing comes.
const QUIET: Duration = Duration::from_millis(50);
/// How long a case pauses before it asks again for something that sends no signal.
const AGAIN: Duration = Duration::from_millis(10);

/// One broker of its own for one case.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The broker under test; the same one at each call.
    async fn broker(&self) -> Arc<dyn Broker>;
    /// Takes the broker away, keeping its queues; returns once it is away.
    async fn stop(&self);
    /// Brings it back.
    async fn restart(&self);
}

/// Expands to one `#[tokio::test]` per case of the suite.
///
/// Takes an expression that makes a [`Harness`](crate::conformance::Harness), evaluated afresh in
/// each test; it may `.await`. The calling crate needs `tokio` with `macros` and `rt`.
#[macro_export]
macro_rules! conformance_suite {
    ($harness:expr) => {
        $crate::conformance_suite!(@cases $harness, publishing: [
            messages_published_before_the_first_consumer_wait,
            message_arrives_as_it_was_sent,
            unroutable_message_is_an_error,
            partitions_do_not_mix,
            depth_counts_ready_messages,
        ]);
        $crate::conformance_suite!(@cases $harness, consuming: [
            deliveries_come_in_order,
            set_holds_at_most_max,
            set_does_not_wait_to_fill,
            waiting_consumer_wakes_for_a_message,
            prefetch_bounds_the_unacknowledged,
            abandoned_wait_loses_no_delivery,
        ]);
        $crate::conformance_suite!(@cases $harness, acknowledging: [
            acknowledged_delivery_never_returns,
            acknowledging_a_tag_acknowledges_the_prefix_only,
            acknowledging_an_unknown_tag_loses_the_session,
            acknowledging_twice_loses_the_session,
            closed_consumer_gives_back_its_deliveries_marked,
            dropped_consumer_gives_back_its_deliveries_marked,
        ]);
        $crate::conformance_suite!(@cases $harness, standing_by: [
            only_one_consumer_is_active,
            standby_takes_over_when_the_active_closes,
            standby_takes_over_when_the_active_is_dropped,
            standbys_take_over_in_order_of_registration,
        ]);
        $crate::conformance_suite!(@cases $harness, waking: [
            wake_reaches_each_subscriber,
            wake_without_a_subscriber_is_no_error,
            wakes_come_in_order,
        ]);
        $crate::conformance_suite!(@cases $harness, outage: [
            stopped_broker_answers_with_errors,
            restarted_broker_has_every_unacknowledged_message,
            waiting_consumer_hears_of_the_stop,
            subscription_ends_with_the_stop,
        ]);
        $crate::conformance_suite!(@cases $harness, closing: [
            declaring_again_is_no_error,
            topology_is_as_wanted_once_declared,
            dead_letter_consumer_waits_until_the_stop,
            closed_broker_says_so,
            closing_ends_sessions_and_subscriptions,
        ]);
    };
    (@cases $harness:expr, $group:ident: [$($case:ident,)+]) => {
        $(
            #[tokio::test]
            async fn $case() {
                let harness = $harness;
                $crate::conformance::$group::$case(&harness).await;
            }
        )+
    };
}

/// A message to a partition's issue queue; its body is its id.
fn message(partition: u16, id: &str) -> Message {
    Message {
        routing_key: format!("order.paid.{partition}"),
        message_id: id.to_owned(),
        kind: "order.paid".to_owned(),
        traceparent: None,
        body: id.as_bytes().to_vec(),
    }
}

/// Publishes to a partition; every message must be taken.
async fn publish(broker: &dyn Broker, partition: u16, ids: &[&str]) {
    let results = broker.publish(ids.iter().map(|id| message(partition, id)).collect()).await;
    assert_eq!(results, vec![Ok(()); ids.len()]);
}

async fn consumer(broker: &dyn Broker, partition: u16, prefetch: u16) -> Box<dyn Consumer> {
    within(broker.consume(partition, prefetch)).await.expect("the consumer registers")
}

/// Takes exactly `count` deliveries, in as many sets as it needs.
async fn take(consumer: &mut dyn Consumer, count: usize) -> Vec<Delivery> {
    let mut deliveries = Vec::new();
    while deliveries.len() < count {
        let set = within(consumer.next_set(count - deliveries.len())).await.expect("a set comes");
        assert!(!set.is_empty(), "a set is never empty");
        deliveries.extend(set);
    }
    assert_eq!(deliveries.len(), count, "a set is never larger than asked");
    deliveries
}

async fn acknowledge(consumer: &mut dyn Consumer, delivery: &Delivery) {
    within(consumer.acknowledge(delivery.tag)).await.expect("the tag is acknowledged");
}

async fn assert_nothing_comes(consumer: &mut dyn Consumer) {
    let set = timeout(QUIET, consumer.next_set(1)).await;
    assert!(set.is_err(), "nothing may come, but there was {set:?}");
}

fn ids(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().filter_map(|delivery| delivery.message_id.as_deref()).collect()
}

/// Waits for something that must end.
async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(WITHIN, future).await.expect("it ends in time")
}

/// Asks until the answer is yes, for what sends no signal.
async fn until(mut asked: impl AsyncFnMut() -> bool) {
    within(async {
        while !asked().await {
            sleep(AGAIN).await;
        }
    })
    .await;
}

/// Polls a future once; it must still wait.
async fn assert_waits<F: Future + Unpin>(future: &mut F) {
    tokio::select! {
        biased;
        _ = future => panic!("it does not wait"),
        () = std::future::ready(()) => {}
    }
}
