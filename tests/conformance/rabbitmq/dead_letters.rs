//! What the broker gives up delivering.

use tessera_broker::Broker;

use super::harness::{Rabbit, ids, message, until, within};

/// Hands out one message, and lets its session end without an acknowledgement.
async fn crash(rabbit: &Rabbit) {
    let mut consumer = within(rabbit.broker.consume(0, 1)).await.unwrap();
    within(consumer.next_set(1)).await.unwrap();
    consumer.close().await;
}

#[tokio::test]
async fn message_that_comes_back_too_often_arrives_among_the_dead_letters() {
    let rabbit = Rabbit::with(|options| options.delivery_limit = 2).await;
    rabbit.broker.declare().await.unwrap();
    let mut dead = within(rabbit.broker.consume_dead(10)).await.unwrap();
    within(rabbit.broker.publish(vec![message(0, "poison")])).await;
    for _ in 0..3 {
        crash(&rabbit).await;
    }
    let letters = within(dead.next_set(10)).await.unwrap();
    assert_eq!(ids(&letters), ["poison"]);
    assert_eq!(letters[0].kind.as_deref(), Some("order.paid"));
    assert_eq!(letters[0].body, b"poison");
    within(dead.acknowledge(letters[0].tag)).await.unwrap();
    assert_eq!(within(rabbit.broker.depth(0)).await, Ok(0));
}

/// RabbitMQ 4 would drop it after 20 without a limit of its own.
#[tokio::test]
async fn dead_letter_that_is_given_back_often_is_not_lost() {
    let rabbit = Rabbit::with(|options| options.delivery_limit = 1).await;
    rabbit.broker.declare().await.unwrap();
    within(rabbit.broker.publish(vec![message(0, "poison")])).await;
    for _ in 0..2 {
        crash(&rabbit).await;
    }
    until(async || rabbit.broker.depth(0).await == Ok(0)).await;
    for _ in 0..25 {
        let mut dead = within(rabbit.broker.consume_dead(1)).await.unwrap();
        assert_eq!(ids(&within(dead.next_set(1)).await.unwrap()), ["poison"]);
        dead.close().await;
    }
}
