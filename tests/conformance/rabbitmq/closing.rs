//! An orderly end, also of a broker that does not answer.

use std::time::{Duration, Instant};

use tessera_broker::Broker;
use tessera_testbed::proxy::Way;

use super::harness::{Rabbit, message, until, within};

/// Closing waits for the confirms of one, and sends the other that still waits for its turn.
#[tokio::test]
async fn sets_handed_over_before_the_close_are_finished() {
    let rabbit = Rabbit::start().await;
    within(rabbit.broker.publish(vec![message(0, "first")])).await;
    let set: Vec<_> = (0..500).map(|number| message(0, &number.to_string())).collect();
    let (one, other) = (rabbit.broker.publish(set.clone()), rabbit.broker.publish(set));
    // The close begins when both are handed over: they are polled first.
    let all = async { tokio::join!(biased; one, other, rabbit.broker.close()) };
    let (one, other, ()) = within(all).await;
    assert_eq!(one, vec![Ok(()); 500]);
    assert_eq!(other, one);
}

#[tokio::test]
async fn closing_leaves_no_connection() {
    let rabbit = Rabbit::start().await;
    let _consumer = within(rabbit.broker.consume(0, 10)).await.unwrap();
    let _wakes = within(rabbit.broker.wakes()).await.unwrap();
    within(rabbit.back()).await;
    assert_eq!(rabbit.proxy.connections(), 2);
    within(rabbit.broker.close()).await;
    until(async || rabbit.proxy.connections() == 0).await;
}

#[tokio::test]
async fn dropping_leaves_no_connection() {
    let mut rabbit = Rabbit::start().await;
    within(rabbit.back()).await;
    let other = std::sync::Arc::new(tessera_broker::RabbitMq::new(&rabbit.options).unwrap());
    drop(std::mem::replace(&mut rabbit.broker, other));
    until(async || rabbit.proxy.connections() == 0).await;
}

#[tokio::test]
async fn broker_that_does_not_answer_is_left_in_time() {
    let rabbit = Rabbit::start().await;
    let _consumer = within(rabbit.broker.consume(0, 10)).await.unwrap();
    within(rabbit.back()).await;
    rabbit.proxy.hold(Way::Both);
    let began = Instant::now();
    let publishing = rabbit.broker.publish(vec![message(0, "a")]);
    let ((), _) = tokio::join!(rabbit.broker.close(), publishing);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}
