//! What a publisher is told, and what it sends.

use std::time::{Duration, Instant};

use lapin::options::{BasicGetOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use tessera_broker::{Broker, Message, PublishError};
use tessera_testbed::proxy::Way;

use super::harness::{Rabbit, ids, message, until, within};

/// A queue of the test's own, bound to the events of one routing key.
async fn listen(rabbit: &Rabbit, channel: &lapin::Channel, key: &str, arguments: FieldTable) -> String {
    let options = QueueDeclareOptions { exclusive: true, ..Default::default() };
    let queue = channel.queue_declare("".into(), options, arguments).await.unwrap();
    let (name, exchange) = (queue.name().clone(), rabbit.name("events").into());
    let bind = QueueBindOptions::default();
    channel.queue_bind(name.clone(), exchange, key.into(), bind, FieldTable::default()).await.unwrap();
    name.to_string()
}

#[tokio::test]
async fn returned_messages_fail_alone_wherever_they_are_in_the_set() {
    let rabbit = Rabbit::start().await;
    let lost = |number: usize| number.is_multiple_of(13) || number == 99;
    let set = (0..100).map(|number| {
        let partition = if lost(number) { 60_000 } else { 0 };
        message(partition, &number.to_string())
    });
    let results = within(rabbit.broker.publish(set.collect())).await;
    for (number, result) in results.into_iter().enumerate() {
        let expected = if lost(number) { Err(PublishError::Unroutable) } else { Ok(()) };
        assert_eq!(result, expected, "{number}");
    }
}

/// More than are in flight at a time.
#[tokio::test]
async fn large_set_has_one_result_each_in_order_and_arrives_in_order() {
    let rabbit = Rabbit::start().await;
    let names: Vec<_> = (0..1_500).map(|number| number.to_string()).collect();
    let mut set: Vec<_> = names.iter().map(|name| message(0, name)).collect();
    set[1_234].routing_key = "order.paid.60000".to_owned();
    let results = within(rabbit.broker.publish(set)).await;
    assert_eq!(results.len(), 1_500);
    assert_eq!(results.iter().position(Result::is_err), Some(1_234));
    assert_eq!(results.iter().filter(|result| result.is_err()).count(), 1);

    let mut consumer = within(rabbit.broker.consume(0, 256)).await.unwrap();
    let mut arrived = vec![];
    while arrived.len() < 1_499 {
        let set = within(consumer.next_set(256)).await.unwrap();
        arrived.extend(ids(&set).into_iter().map(ToOwned::to_owned));
        consumer.acknowledge(set.last().unwrap().tag).await.unwrap();
    }
    let expected: Vec<_> = names.into_iter().filter(|name| name != "1234").collect();
    assert_eq!(arrived, expected);
}

#[tokio::test]
async fn message_carries_what_the_contract_says() {
    let rabbit = Rabbit::start().await;
    let (_connection, channel) = rabbit.beside().await;
    let queue = listen(&rabbit, &channel, "order.paid.0", FieldTable::default()).await;
    let traced = Message { traceparent: Some("00-1-2-01".to_owned()), ..message(0, "event-1") };
    assert_eq!(within(rabbit.broker.publish(vec![traced])).await, [Ok(())]);

    let got = channel.basic_get(queue.into(), BasicGetOptions { no_ack: true }).await.unwrap().unwrap();
    let properties = &got.delivery.properties;
    let text = |text: &Option<lapin::types::ShortString>| text.as_ref().map(ToString::to_string);
    assert_eq!(text(properties.message_id()).as_deref(), Some("event-1"));
    assert_eq!(text(properties.kind()).as_deref(), Some("order.paid"));
    assert_eq!(text(properties.content_type()).as_deref(), Some("application/json"));
    assert_eq!(*properties.delivery_mode(), Some(2));
    let trace = properties.headers().as_ref().and_then(|headers| headers.inner().get("traceparent"));
    assert_eq!(trace, Some(&AMQPValue::LongString("00-1-2-01".into())));
}

#[tokio::test]
async fn message_that_a_queue_rejects_is_refused() {
    let rabbit = Rabbit::start().await;
    let (_connection, channel) = rabbit.beside().await;
    let mut full = FieldTable::default();
    full.insert("x-max-length".into(), AMQPValue::LongInt(1));
    full.insert("x-overflow".into(), AMQPValue::LongString("reject-publish".into()));
    listen(&rabbit, &channel, "order.paid.1", full).await;
    let set = vec![message(0, "a"), message(1, "b"), message(1, "c"), message(0, "d")];
    let refused = Err(PublishError::Refused);
    assert_eq!(within(rabbit.broker.publish(set)).await, [Ok(()), Ok(()), refused, Ok(())]);
}

#[tokio::test]
async fn id_that_amqp_cannot_carry_is_refused_alone() {
    let rabbit = Rabbit::start().await;
    let set = vec![message(0, "a"), message(0, &"x".repeat(256)), message(0, "b")];
    let expected = [Ok(()), Err(PublishError::Refused), Ok(())];
    assert_eq!(within(rabbit.broker.publish(set)).await, expected);
}

/// An api process may be first; it must neither die nor stay away when the issuer comes.
#[tokio::test]
async fn publisher_of_a_missing_exchange_recovers_once_it_is_declared() {
    let rabbit = Rabbit::undeclared().await;
    let publish = async || within(rabbit.broker.publish(vec![message(0, "a"), message(0, "b")])).await;
    for _ in 0..3 {
        assert_eq!(publish().await, [Err(PublishError::Away), Err(PublishError::Away)]);
    }
    within(rabbit.broker.ping()).await.expect("the broker itself is there");
    within(rabbit.broker.wake(vec![])).await.expect("a wake-up may be lost");

    rabbit.broker.declare().await.unwrap();
    let declared = Instant::now();
    until(async || publish().await == [Ok(()), Ok(())]).await;
    assert!(declared.elapsed() < Duration::from_secs(5));
    until(async || rabbit.broker.wake(vec![]).await.is_ok()).await;
}

/// As when memory or disk run out: the broker reads nothing more from who publishes.
#[tokio::test]
async fn publisher_of_a_broker_that_does_not_read_gets_an_answer_in_time() {
    let rabbit = Rabbit::start().await;
    assert_eq!(within(rabbit.broker.publish(vec![message(0, "a")])).await, [Ok(())]);
    rabbit.proxy.hold(Way::ToServer);
    let held = Instant::now();
    assert_eq!(within(rabbit.broker.publish(vec![message(0, "b")])).await, [Err(PublishError::Away)]);
    assert!(held.elapsed() < Duration::from_secs(7), "{:?}", held.elapsed());

    until(async || within(rabbit.broker.publish(vec![])).await.is_empty()).await;
    let again = Instant::now();
    assert_eq!(within(rabbit.broker.publish(vec![message(0, "c")])).await, [Err(PublishError::Away)]);
    assert!(again.elapsed() < Duration::from_secs(1), "the next does not wait: {:?}", again.elapsed());
    rabbit.proxy.release();
    within(rabbit.back()).await;
    assert_eq!(within(rabbit.broker.publish(vec![message(0, "d")])).await, [Ok(())]);
}
