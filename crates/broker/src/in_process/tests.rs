//! What only the in-process broker does.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{InProcess, WAKES_CAPACITY};
use crate::{Broker, BrokerError, Delivery, Message, PublishError};

pub(super) fn message(partition: u16, id: &str) -> Message {
    Message {
        routing_key: format!("order.paid.{partition}"),
        message_id: id.to_owned(),
        kind: "order.paid".to_owned(),
        traceparent: None,
        body: id.as_bytes().to_vec(),
    }
}

async fn publish(broker: &InProcess, ids: &[&str]) -> Vec<Result<(), PublishError>> {
    broker.publish(ids.iter().map(|id| message(0, id)).collect()).await
}

fn ids(set: &[Delivery]) -> Vec<&str> {
    set.iter().filter_map(|delivery| delivery.message_id.as_deref()).collect()
}

#[tokio::test]
async fn full_queue_refuses_what_does_not_fit() {
    let broker = InProcess::with_capacity(1, 2);
    let full = Err(PublishError::Full);
    assert_eq!(publish(&broker, &["a", "b", "c"]).await, [Ok(()), Ok(()), full]);
    assert_eq!(broker.depth(0).await, Ok(2));
}

#[tokio::test]
async fn unacknowledged_deliveries_keep_their_room() {
    let broker = InProcess::with_capacity(1, 2);
    publish(&broker, &["a", "b"]).await;
    let mut consumer = broker.consume(0, 10).await.unwrap();
    let set = consumer.next_set(1).await.unwrap();
    assert_eq!(publish(&broker, &["c"]).await, [Err(PublishError::Full)]);

    consumer.acknowledge(set[0].tag).await.unwrap();
    assert_eq!(publish(&broker, &["c"]).await, [Ok(())]);
    assert_eq!(ids(&consumer.next_set(10).await.unwrap()), ["b", "c"]);
}

#[tokio::test]
async fn set_takes_all_that_is_ready_up_to_max_and_prefetch() {
    let broker = InProcess::new(1);
    publish(&broker, &["a", "b", "c", "d", "e", "f"]).await;
    let mut consumer = broker.consume(0, 5).await.unwrap();
    assert_eq!(ids(&consumer.next_set(3).await.unwrap()), ["a", "b", "c"]);
    assert_eq!(ids(&consumer.next_set(3).await.unwrap()), ["d", "e"]);
}

#[tokio::test]
async fn purge_drops_the_ready_and_keeps_the_unacknowledged() {
    let broker = InProcess::new(1);
    publish(&broker, &["a", "b", "c"]).await;
    let mut consumer = broker.consume(0, 1).await.unwrap();
    consumer.next_set(1).await.unwrap();
    assert_eq!(broker.purge(0), Ok(2));
    assert_eq!(broker.depth(0).await, Ok(0));
    consumer.close().await;
    assert_eq!(broker.depth(0).await, Ok(1));
}

#[tokio::test]
async fn undeclared_partition_has_no_queue() {
    let broker = InProcess::new(1);
    assert_eq!(broker.consume(1, 1).await.err(), Some(BrokerError::NoQueue(1)));
    assert_eq!(broker.depth(1).await, Err(BrokerError::NoQueue(1)));
    assert_eq!(broker.purge(1), Err(BrokerError::NoQueue(1)));
}

#[tokio::test]
async fn lagging_subscriber_misses_the_oldest_and_goes_on() {
    let broker = InProcess::new(1);
    let mut wakes = broker.wakes().await.unwrap();
    for number in 0..=u16::try_from(WAKES_CAPACITY).unwrap() {
        broker.wake(number.to_be_bytes().to_vec()).await.unwrap();
    }
    assert_eq!(wakes.next().await, Some(1_u16.to_be_bytes().to_vec()));
    assert_eq!(wakes.next().await, Some(2_u16.to_be_bytes().to_vec()));
}

#[tokio::test]
async fn dropping_the_broker_closes_its_consumers_and_subscriptions() {
    let broker = Arc::new(InProcess::new(1));
    let mut consumer = broker.consume(0, 1).await.unwrap();
    let mut wakes = broker.wakes().await.unwrap();
    let waiting = tokio::spawn(async move { consumer.next_set(1).await });
    tokio::task::yield_now().await;
    drop(broker);
    let ended = timeout(Duration::from_secs(10), waiting).await.expect("it hears of it");
    assert_eq!(ended.unwrap(), Err(BrokerError::Closed));
    assert_eq!(wakes.next().await, None);
}
