//! What the tests of RabbitMQ share: the broker under test, messages, and waits with a bound.

use std::time::Duration;

use lapin::{Channel, Connection};
use tessera_broker::{Delivery, Message};
pub(super) use tessera_testbed::Rabbit;
use tokio::time::{sleep, timeout};

/// How long a test waits for what must come.
pub(super) const WITHIN: Duration = Duration::from_secs(20);
/// How long a test pauses before it asks again for something that sends no signal.
const AGAIN: Duration = Duration::from_millis(10);

/// A connection to a server, and a channel on it; both are needed for as long as it is used.
pub(super) async fn connect(url: &str) -> (Connection, Channel) {
    tessera_testbed::queues::connect(url).await.expect("the server is there")
}

/// A message for a partition's issuer; its body is its id.
pub(super) fn message(partition: u16, id: &str) -> Message {
    Message {
        routing_key: format!("order.paid.{partition}"),
        message_id: id.to_owned(),
        kind: "order.paid".to_owned(),
        traceparent: None,
        body: id.as_bytes().to_vec(),
    }
}

pub(super) fn ids(set: &[Delivery]) -> Vec<&str> {
    set.iter().filter_map(|delivery| delivery.message_id.as_deref()).collect()
}

/// Waits for something that must end.
pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(WITHIN, future).await.expect("it ends in time")
}

/// Asks until the answer is yes.
pub(super) async fn until(mut asked: impl AsyncFnMut() -> bool) {
    within(async {
        while !asked().await {
            sleep(AGAIN).await;
        }
    })
    .await;
}
