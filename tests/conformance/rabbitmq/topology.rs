//! What is declared, and how a difference is told.

use lapin::ExchangeKind;
use lapin::options::{ExchangeDeclareOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use tessera_broker::{Broker, BrokerError, Finding, Found};

use super::harness::{Rabbit, within};

fn of<'a>(findings: &'a [Finding], name: &str) -> &'a Found {
    &findings.iter().find(|finding| finding.name == name).expect("it was looked at").found
}

#[tokio::test]
async fn looking_at_the_topology_creates_nothing() {
    let rabbit = Rabbit::undeclared().await;
    for _ in 0..2 {
        let findings = within(rabbit.broker.topology()).await.unwrap();
        let (version, rest) = findings.split_first().unwrap();
        assert!(version.name.starts_with("RabbitMQ "), "{version:?}");
        assert_eq!(rest.len(), 5);
        assert!(rest.iter().all(|finding| finding.found == Found::Missing), "{rest:?}");
    }
}

/// Each difference is named at once, and what was there stays as it was.
#[tokio::test]
async fn differences_are_named_with_both_values_and_the_remedy() {
    let rabbit = Rabbit::undeclared().await;
    let (_connection, channel) = rabbit.beside().await;
    let durable = ExchangeDeclareOptions { durable: true, ..Default::default() };
    let events = rabbit.name("events");
    channel
        .exchange_declare(events.as_str().into(), ExchangeKind::Direct, durable, FieldTable::default())
        .await
        .unwrap();
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    arguments.insert("x-delivery-limit".into(), AMQPValue::LongInt(20));
    let durable = QueueDeclareOptions { durable: true, ..Default::default() };
    let dead = rabbit.name("dead");
    channel.queue_declare(dead.as_str().into(), durable, arguments).await.unwrap();

    for _ in 0..2 {
        let Err(BrokerError::Topology(text)) = within(rabbit.broker.declare()).await else {
            panic!("it has to say that they differ")
        };
        assert!(text.contains(&format!("exchange {events} has type 'direct', wanted is 'topic'")), "{text}");
        let limit = format!("queue {dead} has x-delivery-limit '20', wanted is '1000000000'");
        assert!(text.contains(&limit) && text.contains("delete it and start again"), "{text}");
    }
    let findings = within(rabbit.broker.topology()).await.unwrap();
    assert!(matches!(of(&findings, &format!("exchange {events}")), Found::Different(_)), "{findings:?}");
    assert!(matches!(of(&findings, &format!("queue {dead}")), Found::Different(_)), "{findings:?}");
    within(rabbit.broker.ping()).await.expect("the connection has not suffered");
}

/// Two shops on one broker, told apart by their prefixes.
#[tokio::test]
async fn shops_of_different_prefixes_do_not_meet() {
    let (here, there) = (Rabbit::start().await, Rabbit::start().await);
    within(here.broker.publish(vec![super::harness::message(0, "a")])).await;
    let mut wakes = within(there.broker.wakes()).await.unwrap();
    within(here.broker.wake(b"here".to_vec())).await.unwrap();
    within(there.broker.wake(b"there".to_vec())).await.unwrap();
    assert_eq!(within(wakes.next()).await.as_deref(), Some(b"there".as_slice()));
    assert_eq!(within(there.broker.depth(0)).await, Ok(0));
}
