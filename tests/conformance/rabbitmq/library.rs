//! What this program relies on in the AMQP library, and no documentation promises.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use futures_util::future::join_all;
use lapin::options::{BasicConsumeOptions, BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel};
use tessera_testbed::{Proxy, Queues};

use super::harness::{connect, until, within};

async fn queue_of_its_own(channel: &Channel) -> lapin::types::ShortString {
    let options = QueueDeclareOptions { exclusive: true, ..Default::default() };
    let queue = channel.queue_declare("".into(), options, FieldTable::default()).await.unwrap();
    queue.name().clone()
}

/// A consumer that only heard nothing would wait for ever.
#[tokio::test]
async fn channel_closed_by_the_broker_gives_its_consumer_an_error_and_then_the_end() {
    let (_connection, channel) = connect(Queues::shared().url()).await;
    let queue = queue_of_its_own(&channel).await;
    let consume = BasicConsumeOptions::default();
    let mut consumer = channel.basic_consume(queue, "".into(), consume, FieldTable::default()).await.unwrap();

    let passive = QueueDeclareOptions { passive: true, ..Default::default() };
    let missing = channel.queue_declare("test-there-is-none".into(), passive, FieldTable::default()).await;
    assert!(missing.is_err());
    assert!(within(consumer.next()).await.is_some_and(|next| next.is_err()));
    assert!(within(consumer.next()).await.is_none());
}

/// They come with whichever confirm was resolved next, and have done so when all confirms are in.
#[tokio::test]
async fn every_returned_message_has_come_once_all_confirms_are_in() {
    const MESSAGES: usize = 300;
    let (_connection, channel) = connect(Queues::shared().url()).await;
    let queue = queue_of_its_own(&channel).await;
    channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
    let mut confirms = vec![];
    for number in 0..MESSAGES {
        let routed = !number.is_multiple_of(7);
        let key = if routed { queue.clone() } else { "test-there-is-none".into() };
        let options = BasicPublishOptions { mandatory: true, immediate: false };
        let properties = BasicProperties::default().with_message_id(number.to_string().into());
        confirms.push(channel.basic_publish("".into(), key, options, b"x", properties).await.unwrap());
    }
    let confirmed = within(join_all(confirms)).await;
    let returned: BTreeSet<_> = confirmed
        .into_iter()
        .filter_map(|confirmed| confirmed.unwrap().take_message())
        .map(|message| message.properties.message_id().clone().unwrap().to_string())
        .collect();
    let expected: BTreeSet<_> = (0..MESSAGES).step_by(7).map(|number| number.to_string()).collect();
    assert_eq!(returned, expected);
}

/// Otherwise there would be two who rebuild it.
#[tokio::test]
async fn lost_connection_is_not_repaired_by_the_library() {
    let (proxy, url) = Proxy::before(Queues::shared().url()).await.unwrap();
    let (connection, channel) = connect(&url).await;
    proxy.reset().await;
    until(async || !connection.status().connected()).await;
    assert!(connection.create_channel().await.is_err());
    assert!(!channel.status().connected());
    assert_eq!(proxy.connections(), 0);
}
