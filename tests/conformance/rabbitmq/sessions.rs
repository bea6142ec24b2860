//! What ends a consumer's session, and what does not.

use lapin::BasicProperties;
use lapin::options::{BasicPublishOptions, QueueDeleteOptions, QueuePurgeOptions};
use tessera_broker::{Broker, BrokerError, Found};

use super::harness::{Rabbit, ids, message, until, within};

/// The broker only cancels the consumer then: the channel stays open, and nothing comes any more.
#[tokio::test]
async fn queue_deleted_under_the_consumer_ends_its_session() {
    let rabbit = Rabbit::start().await;
    let mut consumer = within(rabbit.broker.consume(0, 10)).await.unwrap();
    let (_connection, channel) = rabbit.beside().await;
    channel.queue_delete(rabbit.name("issue.0").into(), QueueDeleteOptions::default()).await.unwrap();

    assert_eq!(within(consumer.next_set(1)).await, Err(BrokerError::SessionLost));
    assert_eq!(within(rabbit.broker.consume(0, 10)).await.err(), Some(BrokerError::NoQueue(0)));
    assert_eq!(within(rabbit.broker.depth(0)).await, Err(BrokerError::NoQueue(0)));
    let findings = within(rabbit.broker.topology()).await.unwrap();
    let missing: Vec<_> = findings.iter().filter(|finding| finding.found == Found::Missing).collect();
    assert_eq!(missing.len(), 1, "it is not made anew unseen: {findings:?}");

    rabbit.broker.declare().await.unwrap();
    within(rabbit.broker.consume(0, 10)).await.expect("an issuer that declares has its queue back");
}

#[tokio::test]
async fn purged_queue_keeps_the_session_and_what_it_holds() {
    let rabbit = Rabbit::start().await;
    let set = ["a", "b", "c"].map(|id| message(0, id));
    within(rabbit.broker.publish(set.to_vec())).await;
    let mut consumer = within(rabbit.broker.consume(0, 1)).await.unwrap();
    let taken = within(consumer.next_set(1)).await.unwrap();
    until(async || rabbit.broker.depth(0).await == Ok(2)).await;
    let (_connection, channel) = rabbit.beside().await;
    let purge = QueuePurgeOptions::default();
    assert_eq!(channel.queue_purge(rabbit.name("issue.0").into(), purge).await.unwrap(), 2);

    within(consumer.acknowledge(taken[0].tag)).await.unwrap();
    within(rabbit.broker.publish(vec![message(0, "d")])).await;
    assert_eq!(ids(&within(consumer.next_set(10)).await.unwrap()), ["d"]);
}

/// Whatever is in the queue, the consumer hands it out and lives on.
#[tokio::test]
async fn message_of_a_stranger_has_no_id_and_no_kind() {
    let rabbit = Rabbit::start().await;
    let (_connection, channel) = rabbit.beside().await;
    for body in [vec![], b"\xff\xfe".to_vec(), vec![b'x'; 1 << 20]] {
        let (exchange, key) = (rabbit.name("events").into(), "order.paid.0".into());
        let (options, properties) = (BasicPublishOptions::default(), BasicProperties::default());
        channel.basic_publish(exchange, key, options, &body, properties).await.unwrap();
    }
    let mut consumer = within(rabbit.broker.consume(0, 10)).await.unwrap();
    let mut lengths = vec![];
    while lengths.len() < 3 {
        for delivery in within(consumer.next_set(10)).await.unwrap() {
            assert_eq!((delivery.message_id, delivery.kind), (None, None));
            lengths.push(delivery.body.len());
        }
    }
    assert_eq!(lengths, [0, 2, 1 << 20]);
}

/// Each has a channel of its own.
#[tokio::test]
async fn sessions_of_one_connection_do_not_end_each_other() {
    let rabbit = Rabbit::start().await;
    let mut zero = within(rabbit.broker.consume(0, 10)).await.unwrap();
    let mut one = within(rabbit.broker.consume(1, 10)).await.unwrap();
    assert_eq!(within(zero.acknowledge(7)).await, Err(BrokerError::SessionLost));
    within(rabbit.broker.publish(vec![message(1, "a")])).await;
    assert_eq!(ids(&within(one.next_set(10)).await.unwrap()), ["a"]);
}
