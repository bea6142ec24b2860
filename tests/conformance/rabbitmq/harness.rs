//! A RabbitMQ broker behind a proxy, with queues of its own, and a way past both.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lapin::{Channel, Connection, ConnectionProperties};
use tessera_broker::conformance::{Harness, PARTITIONS};
use tessera_broker::{Broker, Delivery, Message, Options, RabbitMq};
use tessera_testbed::{Proxy, Queues};
use tokio::time::{sleep, timeout};

/// How long a test waits for what must come.
pub(super) const WITHIN: Duration = Duration::from_secs(20);
/// How long a test pauses before it asks again for something that sends no signal.
const AGAIN: Duration = Duration::from_millis(10);

/// A broker under test.
pub(super) struct Rabbit {
    pub(super) proxy: Proxy,
    pub(super) broker: Arc<RabbitMq>,
    pub(super) options: Options,
    // Deletes what has its names when it is dropped.
    queues: Queues,
}

impl Rabbit {
    /// With everything declared.
    pub(super) async fn start() -> Self {
        let rabbit = Self::undeclared().await;
        rabbit.broker.declare().await.expect("it declares");
        rabbit
    }

    /// With nothing declared.
    pub(super) async fn undeclared() -> Self {
        Self::with(|_| {}).await
    }

    /// With options of the test's own, and nothing declared.
    pub(super) async fn with(change: impl FnOnce(&mut Options)) -> Self {
        let queues = Queues::shared();
        let (proxy, url) = Proxy::before(queues.url()).await.expect("a port is free");
        let mut options = Options::new(url, queues.prefix(), PARTITIONS);
        change(&mut options);
        let broker = Arc::new(RabbitMq::new(&options).expect("the options are fine"));
        Self { proxy, broker, options, queues }
    }

    /// A name under this test's prefix.
    pub(super) fn name(&self, end: &str) -> String {
        format!("{}.{end}", self.options.prefix)
    }

    /// A connection past the proxy.
    pub(super) async fn beside(&self) -> (Connection, Channel) {
        connect(self.queues.url()).await
    }

    /// Waits until both connections work again.
    pub(super) async fn back(&self) {
        until(async || self.broker.ping().await.is_ok()).await;
    }
}

#[async_trait]
impl Harness for Rabbit {
    async fn broker(&self) -> Arc<dyn Broker> {
        Arc::<RabbitMq>::clone(&self.broker)
    }

    async fn stop(&self) {
        self.proxy.cut().await;
        // Each asks another connection; a suite's case bounds the wait.
        while self.broker.depth(0).await.is_ok() || self.broker.wake(Vec::new()).await.is_ok() {
            sleep(AGAIN).await;
        }
    }

    async fn restart(&self) {
        self.proxy.restore();
    }
}

/// A connection to a server, and a channel on it; both are needed for as long as it is used.
pub(super) async fn connect(url: &str) -> (Connection, Channel) {
    let connected = Connection::connect(url, ConnectionProperties::default()).await;
    let connection = connected.expect("the server is there");
    let channel = connection.create_channel().await.expect("it opens a channel");
    (connection, channel)
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
