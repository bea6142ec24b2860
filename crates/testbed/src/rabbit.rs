//! RabbitMQ behind a proxy, with queues of its own, and a way past both.

#![expect(clippy::expect_used, reason = "a test that gets no broker fails")]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lapin::{Channel, Connection};
use tessera_broker::conformance::{Harness, PARTITIONS};
use tessera_broker::{Broker, Options, RabbitMq};
use tokio::time::sleep;

use crate::{Proxy, Queues};

/// How long a test pauses before it asks again for something that sends no signal.
const AGAIN: Duration = Duration::from_millis(10);

/// A broker under test; what it declared is deleted on drop.
pub struct Rabbit {
    /// What the broker's connections go through.
    pub proxy: Proxy,
    /// The broker, which connects when something is first asked of it.
    pub broker: Arc<RabbitMq>,
    /// What it was made from.
    pub options: Options,
    /// The way past the proxy. The last to be dropped: it deletes.
    pub queues: Queues,
}

impl Rabbit {
    /// With everything declared.
    ///
    /// # Panics
    /// There is no server.
    pub async fn start() -> Self {
        let rabbit = Self::undeclared().await;
        rabbit.broker.declare().await.expect("it declares");
        rabbit
    }

    /// With nothing declared.
    pub async fn undeclared() -> Self {
        Self::with(|_| {}).await
    }

    /// With options of the test's own, and nothing declared.
    ///
    /// # Panics
    /// No port is free, or the options cannot be used.
    pub async fn with(change: impl FnOnce(&mut Options)) -> Self {
        let queues = Queues::shared();
        let (proxy, url) = Proxy::before(queues.url()).await.expect("a port is free");
        let mut options = Options::new(url, queues.prefix(), PARTITIONS);
        change(&mut options);
        let broker = Arc::new(RabbitMq::new(&options).expect("the options are fine"));
        Self { proxy, broker, options, queues }
    }

    /// A name under this test's prefix.
    pub fn name(&self, end: &str) -> String {
        format!("{}.{end}", self.options.prefix)
    }

    /// A connection past the proxy.
    ///
    /// # Panics
    /// There is no server.
    pub async fn beside(&self) -> (Connection, Channel) {
        self.queues.connect().await.expect("the server is there")
    }

    /// Waits until both connections work again; the caller bounds it.
    pub async fn back(&self) {
        while self.broker.ping().await.is_err() {
            sleep(AGAIN).await;
        }
    }
}

#[async_trait]
impl Harness for Rabbit {
    async fn broker(&self) -> Arc<dyn Broker> {
        Arc::<RabbitMq>::clone(&self.broker)
    }

    async fn stop(&self) {
        self.proxy.cut().await;
        // Each asks another connection; the caller bounds the wait.
        while self.broker.depth(0).await.is_ok() || self.broker.wake(Vec::new()).await.is_ok() {
            sleep(AGAIN).await;
        }
    }

    async fn restart(&self) {
        self.proxy.restore();
    }
}
