//! Queues of its own for a test, in a RabbitMQ that others use too.

#![expect(clippy::expect_used, reason = "a test whose broker does not do as it is told fails")]

use std::hash::{BuildHasher, Hasher, RandomState};

use lapin::options::{
    BasicPublishOptions, ConfirmSelectOptions, ExchangeDeleteOptions, QueueDeclareOptions,
    QueueDeleteOptions, QueuePurgeOptions,
};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};

use crate::servers;

/// The most issuer queues a test has.
const PARTITIONS_MAX: u16 = 4;

/// Names that begin with a prefix no other test has; what has such a name is deleted on drop.
pub struct Queues {
    url: String,
    prefix: String,
}

impl Queues {
    /// A prefix in the shared server.
    ///
    /// # Panics
    /// When there is none.
    pub fn shared() -> Self {
        Self::at(servers::amqp_url())
    }

    /// A prefix in the server at this address.
    pub fn at(url: String) -> Self {
        // Keyed at random, in every process and each time.
        let unused = RandomState::new().build_hasher().finish();
        Self { url, prefix: format!("test-{unused:016x}") }
    }

    /// The server's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the names begin with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// How many messages are ready in an issuer queue, unacknowledged ones not counted.
    pub async fn ready(&self, partition: u16) -> u32 {
        let (_connection, channel) = self.connect().await.expect("the broker is there");
        let passive = QueueDeclareOptions { passive: true, ..Default::default() };
        let queue = channel.queue_declare(self.issue(partition).into(), passive, FieldTable::default()).await;
        queue.expect("the queue is there").message_count()
    }

    /// Throws away the messages ready in an issuer queue; returns how many.
    pub async fn purge(&self, partition: u16) -> u32 {
        let (_connection, channel) = self.connect().await.expect("the broker is there");
        let purged = channel.queue_purge(self.issue(partition).into(), QueuePurgeOptions::default()).await;
        purged.expect("the queue is purged")
    }

    /// Declares the queue of a partition as no issuer would: with this delivery limit.
    pub async fn declare_with_limit(&self, partition: u16, limit: i32) {
        let (_connection, channel) = self.connect().await.expect("the broker is there");
        let mut arguments = FieldTable::default();
        arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
        arguments.insert("x-delivery-limit".into(), AMQPValue::LongInt(limit));
        let durable = QueueDeclareOptions { durable: true, ..Default::default() };
        let declared = channel.queue_declare(self.issue(partition).into(), durable, arguments).await;
        declared.expect("the queue is declared");
    }

    /// Puts a message where the broker puts what it gives up delivering.
    pub async fn give_up(&self, kind: &str, body: &str) {
        let (_connection, channel) = self.connect().await.expect("the broker is there");
        channel.confirm_select(ConfirmSelectOptions::default()).await.expect("it confirms");
        let properties = BasicProperties::default().with_type(kind.into()).with_delivery_mode(2);
        let (to, options) = (format!("{}.dead", self.prefix), BasicPublishOptions::default());
        let published =
            channel.basic_publish("".into(), to.into(), options, body.as_bytes(), properties).await;
        published.expect("it is sent").await.expect("it is taken");
    }

    fn issue(&self, partition: u16) -> String {
        format!("{}.issue.{partition}", self.prefix)
    }

    /// A connection to the server, and a channel on it; both are needed for as long as it is used.
    ///
    /// # Errors
    /// The server is away.
    pub async fn connect(&self) -> lapin::Result<(Connection, Channel)> {
        connect(&self.url).await
    }

    async fn delete(&self) -> lapin::Result<()> {
        let (connection, channel) = self.connect().await?;
        let queues = (0..PARTITIONS_MAX).map(|partition| self.issue(partition));
        for name in queues.chain([format!("{}.dead", self.prefix)]) {
            channel.queue_delete(name.into(), QueueDeleteOptions::default()).await?;
        }
        for name in ["events", "wake"] {
            let name = format!("{}.{name}", self.prefix);
            channel.exchange_delete(name.into(), ExchangeDeleteOptions::default()).await?;
        }
        connection.close(200, "done".into()).await
    }
}

/// A connection to the server at this address, and a channel on it; both are needed for as long as it is used.
///
/// # Errors
/// The server is away.
pub async fn connect(url: &str) -> lapin::Result<(Connection, Channel)> {
    let connection = Connection::connect(url, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    Ok((connection, channel))
}

impl Drop for Queues {
    fn drop(&mut self) {
        // A thread and runtime of its own: those of the test may be ending. What cannot be deleted is left.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.map(|runtime| runtime.block_on(self.delete()).ok()).ok();
            });
        });
    }
}
