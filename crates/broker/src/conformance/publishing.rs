//! Where messages go, and what the publisher is told.

use super::{Harness, assert_nothing_comes, consumer, ids, message, publish, take, until, within};
use crate::{Message, PublishError};

/// A queue exists before anyone consumes it.
pub async fn messages_published_before_the_first_consumer_wait(harness: &dyn Harness) {
    let broker = harness.broker().await;
    publish(&*broker, 0, &["a", "b"]).await;

    let mut consumer = consumer(&*broker, 0, 10).await;
    let deliveries = take(&mut *consumer, 2).await;
    assert_eq!(ids(&deliveries), ["a", "b"]);
    assert!(deliveries.iter().all(|delivery| !delivery.redelivered));
}

/// Id, kind and body come out as they went in, whatever bytes they are.
pub async fn message_arrives_as_it_was_sent(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let bytes = Message {
        routing_key: "stock.added.0".to_owned(),
        message_id: "event-1".to_owned(),
        kind: "stock.added".to_owned(),
        traceparent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned()),
        body: (0..=255).collect(),
    };
    let empty = Message { traceparent: None, body: Vec::new(), ..bytes.clone() };
    let results = within(broker.publish(vec![bytes.clone(), empty])).await;
    assert_eq!(results, [Ok(()), Ok(())]);

    let mut consumer = consumer(&*broker, 0, 10).await;
    let deliveries = take(&mut *consumer, 2).await;
    assert_eq!(deliveries[0].message_id.as_deref(), Some("event-1"));
    assert_eq!(deliveries[0].kind.as_deref(), Some("stock.added"));
    assert_eq!(deliveries[0].body, bytes.body);
    assert!(deliveries[1].body.is_empty());
}

/// A message that reaches no queue fails alone; its neighbours arrive.
pub async fn unroutable_message_is_an_error(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let lost = Message { routing_key: "order.paid.60000".to_owned(), ..message(0, "lost") };
    let results = within(broker.publish(vec![message(0, "a"), lost, message(0, "b")])).await;
    assert_eq!(results, [Ok(()), Err(PublishError::Unroutable), Ok(())]);

    let mut consumer = consumer(&*broker, 0, 10).await;
    assert_eq!(ids(&take(&mut *consumer, 2).await), ["a", "b"]);
    assert_nothing_comes(&mut *consumer).await;
}

/// Each partition's queue gets its own messages and no other.
pub async fn partitions_do_not_mix(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let mut zero = consumer(&*broker, 0, 10).await;
    let mut one = consumer(&*broker, 1, 10).await;
    publish(&*broker, 1, &["one"]).await;

    assert_eq!(ids(&take(&mut *one, 1).await), ["one"]);
    assert_nothing_comes(&mut *zero).await;
    publish(&*broker, 0, &["zero"]).await;
    assert_eq!(ids(&take(&mut *zero, 1).await), ["zero"]);
    assert_nothing_comes(&mut *one).await;
}

/// What is ready counts; what a consumer holds does not, until it gives it back.
pub async fn depth_counts_ready_messages(harness: &dyn Harness) {
    let broker = harness.broker().await;
    let is = async |depth| until(async || broker.depth(0).await == Ok(depth)).await;
    is(0).await;
    publish(&*broker, 0, &["a", "b", "c"]).await;
    publish(&*broker, 1, &["elsewhere"]).await;
    is(3).await;

    let mut consumer = consumer(&*broker, 0, 2).await;
    take(&mut *consumer, 2).await;
    is(1).await;
    consumer.close().await;
    is(3).await;
}
