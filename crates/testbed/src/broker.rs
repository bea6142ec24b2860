//! A shop's broker: in the process, or RabbitMQ, with what a test does to it and reads from it.
//!
//! It is the seam's [`Broker`] over either, and counts what is published and not acknowledged: no broker says
//! that of messages which it has pushed ahead. RabbitMQ is connected to and declared in when something is first
//! asked of it, because most tests need no broker.

#![expect(clippy::expect_used, reason = "a broker that does not do as it is told fails its test")]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tessera_broker::conformance::Harness;
use tessera_broker::{Broker, BrokerError, Consumer, Finding, InProcess, Message, PublishError, Wakes};
use tokio::sync::OnceCell;
use tokio::time::{sleep, timeout};

use crate::{Engine, Rabbit};

mod counted;
mod tally;

use counted::Counted;
use tally::Tally;

/// How long a test waits for the broker.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a test pauses before it asks again for something that sends no signal.
const AGAIN: Duration = Duration::from_millis(1);

/// The broker of one shop, with one issue queue.
pub struct TestBroker {
    twin: Twin,
    tally: Arc<Tally>,
}

enum Twin {
    InProcess(InProcess),
    RabbitMq { rabbit: Box<OnceCell<Rabbit>>, declared: OnceCell<()> },
}

impl TestBroker {
    /// The broker that goes with an engine: RabbitMQ with PostgreSQL, and that in the process with a file.
    pub fn beside(engine: Engine) -> Self {
        let twin = match engine {
            Engine::Sqlite => Twin::InProcess(InProcess::new(1)),
            Engine::Postgres => Twin::RabbitMq { rabbit: Box::default(), declared: OnceCell::new() },
        };
        Self { twin, tally: Arc::default() }
    }

    /// The broker in the process.
    pub fn in_process() -> Self {
        Self::beside(Engine::Sqlite)
    }

    /// What the next process finds after this one crashed: a broker in the process is another, and empty.
    pub(crate) fn after_crash(self: &Arc<Self>) -> Arc<Self> {
        match &self.twin {
            Twin::InProcess(_) => Arc::new(Self::in_process()),
            Twin::RabbitMq { .. } => Arc::clone(self),
        }
    }

    /// Hands out whole sets from here on: each holds all that is published, up to its maximum.
    ///
    /// For tests that count sets. RabbitMQ pushes message after message, and an issuer takes what has come.
    pub fn hand_out_whole_sets(&self) {
        self.tally.hand_out_whole_sets();
    }

    /// Takes the broker away; returns once it is away.
    pub async fn stop(&self) {
        match &self.twin {
            Twin::InProcess(broker) => broker.stop(),
            Twin::RabbitMq { declared, .. } => {
                let rabbit = self.rabbit().await;
                if declared.initialized() {
                    // A connection first made while it is away is waited for until its time runs out.
                    within(rabbit.back()).await;
                }
                within(rabbit.stop()).await;
            }
        }
    }

    /// Brings it back; returns once it answers.
    pub async fn restart(&self) {
        match &self.twin {
            Twin::InProcess(broker) => broker.restart(),
            Twin::RabbitMq { .. } => {
                let rabbit = self.rabbit().await;
                rabbit.restart().await;
                within(rabbit.back()).await;
            }
        }
    }

    /// Throws away the messages that are ready and says how many; a RabbitMQ that is away has to have been used.
    pub async fn purge(&self) -> u64 {
        let purged = match &self.twin {
            Twin::InProcess(broker) => broker.purge(0).expect("there is a queue"),
            Twin::RabbitMq { declared, .. } => {
                if !declared.initialized() {
                    self.there().await.expect("it is there");
                }
                self.rabbit().await.queues.purge(0).await.into()
            }
        };
        self.tally.gone(purged);
        purged
    }

    /// How many messages are published and not acknowledged, all of them ready again: no consumer may be left
    /// that holds any.
    pub async fn left(&self) -> u64 {
        let left = self.tally.left();
        within(async {
            while self.depth(0).await != Ok(left) {
                sleep(AGAIN).await;
            }
        })
        .await;
        left
    }

    /// Waits until everything published is acknowledged or purged.
    pub async fn until_acknowledged(&self) {
        within(self.tally.none_left()).await;
    }

    /// RabbitMQ, with nothing declared yet.
    async fn rabbit(&self) -> &Rabbit {
        let Twin::RabbitMq { rabbit, .. } = &self.twin else { panic!("the broker is in the process") };
        rabbit.get_or_init(|| Rabbit::with(|options| options.partitions = 1)).await
    }

    /// The broker with its topology, which is declared when it is first there.
    async fn there(&self) -> Result<&dyn Broker, BrokerError> {
        match &self.twin {
            Twin::InProcess(broker) => Ok(broker),
            Twin::RabbitMq { declared, .. } => {
                let broker = &self.rabbit().await.broker;
                declared.get_or_try_init(|| broker.declare()).await?;
                Ok(&**broker)
            }
        }
    }
}

#[async_trait]
impl Broker for TestBroker {
    async fn declare(&self) -> Result<(), BrokerError> {
        self.there().await?.declare().await
    }

    async fn topology(&self) -> Result<Vec<Finding>, BrokerError> {
        self.there().await?.topology().await
    }

    async fn publish(&self, messages: Vec<Message>) -> Vec<Result<(), PublishError>> {
        let Ok(broker) = self.there().await else { return vec![Err(PublishError::Away); messages.len()] };
        self.tally.publishing(messages.len());
        let outcomes = broker.publish(messages).await;
        self.tally.published(&outcomes);
        outcomes
    }

    async fn consume(&self, partition: u16, prefetch: u16) -> Result<Box<dyn Consumer>, BrokerError> {
        let consumer = self.there().await?.consume(partition, prefetch).await?;
        Ok(Box::new(Counted::new(consumer, prefetch, Arc::clone(&self.tally))))
    }

    async fn consume_dead(&self, prefetch: u16) -> Result<Box<dyn Consumer>, BrokerError> {
        self.there().await?.consume_dead(prefetch).await
    }

    async fn wake(&self, body: Vec<u8>) -> Result<(), BrokerError> {
        self.there().await?.wake(body).await
    }

    async fn wakes(&self) -> Result<Box<dyn Wakes>, BrokerError> {
        self.there().await?.wakes().await
    }

    async fn depth(&self, partition: u16) -> Result<u64, BrokerError> {
        self.there().await?.depth(partition).await
    }

    async fn ping(&self) -> Result<(), BrokerError> {
        self.there().await?.ping().await
    }

    async fn close(&self) {
        match &self.twin {
            Twin::InProcess(broker) => broker.close().await,
            Twin::RabbitMq { rabbit, .. } => {
                if let Some(rabbit) = rabbit.get() {
                    rabbit.broker.close().await;
                }
            }
        }
    }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("the broker does it in time")
}
