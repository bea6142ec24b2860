//! The broker of several processes: RabbitMQ.
//!
//! Two connections, each opened when first asked for and kept up for ever: one publishes, the other does all
//! the rest, so that a broker which stops taking messages still takes acknowledgements. Nothing is repaired:
//! what has failed is dropped and built anew, and a consumer's session ends at its first error.
//!
//! What goes wrong here costs time, never an order: an order that is paid stays to be issued until it is.

mod names;
mod options;
mod topology;

mod failure;
mod line;
mod link;
mod socket;

mod consumer;
mod publish;
mod publisher;
mod verdict;
mod wakes;

mod declare;
mod drift;
mod version;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;
use lapin::uri::AMQPUri;
use tokio::sync::{OnceCell, mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use self::options::{DELIVERY_LIMIT, Options, OptionsError};
use self::{
    consumer::RabbitConsumer,
    failure::Failure,
    line::Line,
    link::Link,
    names::Names,
    publisher::{Job, Publisher},
    wakes::{RabbitWakes, Waker},
};
use crate::{Broker, BrokerError, Consumer, Finding, Message, PublishError, Wakes};

/// How long [`Broker::close`] waits for what is being published, and again for connections to close.
const CLOSE_BOUND: Duration = Duration::from_secs(3);

/// A RabbitMQ broker; dropping it without [`Broker::close`] ends its connections without a word.
pub struct RabbitMq {
    uri: AMQPUri,
    names: Names,
    partitions: u16,
    delivery_limit: u16,
    publishing: Arc<Line>,
    consuming: Arc<Line>,
    publisher: OnceCell<mpsc::Sender<Job>>,
    waker: Waker,
    /// From here on every call says `Closed`.
    closing: CancellationToken,
    /// From here on the connections close.
    stop: CancellationToken,
    /// What has to end before the last connection.
    users: TaskTracker,
    lines: TaskTracker,
}

impl RabbitMq {
    /// Checks the options; connects when something is first asked of it, and does not fail for a broker that
    /// is away.
    ///
    /// # Errors
    /// The URL or the prefix cannot be used.
    pub fn new(options: &Options) -> Result<Self, OptionsError> {
        let uri = options.uri()?;
        let names = Names::new(options.checked_prefix()?);
        let (stop, lines) = (CancellationToken::new(), TaskTracker::new());
        let line = |purpose: &str| {
            let name = format!("{} {purpose}", options.prefix);
            Line::new(uri.clone(), name, stop.clone(), lines.clone())
        };
        let (publishing, consuming) = (line("publishing"), line("consuming"));
        Ok(Self {
            waker: Waker::new(Arc::clone(&publishing), names.wake()),
            publisher: OnceCell::new(),
            closing: CancellationToken::new(),
            users: TaskTracker::new(),
            partitions: options.partitions,
            delivery_limit: options.delivery_limit,
            uri,
            names,
            publishing,
            consuming,
            stop,
            lines,
        })
    }

    async fn link(&self, line: &Arc<Line>) -> Result<Arc<Link>, BrokerError> {
        if self.closing.is_cancelled() {
            return Err(BrokerError::Closed);
        }
        line.link().await
    }

    async fn register(
        &self,
        queue: &str,
        prefetch: u16,
    ) -> Result<Result<RabbitConsumer, Failure>, BrokerError> {
        let link = self.link(&self.consuming).await?;
        let (closing, users) = (self.closing.clone(), self.users.clone());
        Ok(RabbitConsumer::register(link, queue, prefetch, closing, users).await)
    }

    fn items(&self) -> Vec<topology::Item> {
        topology::items(&self.names, self.partitions, self.delivery_limit)
    }

    /// The way to the publishing task, which is started here.
    async fn publisher(&self) -> &mpsc::Sender<Job> {
        let start = async || {
            let (line, exchange) = (Arc::clone(&self.publishing), self.names.events());
            let (inbox, task) = Publisher::task(line, exchange, self.closing.clone());
            self.users.spawn(task);
            inbox
        };
        self.publisher.get_or_init(start).await
    }
}

#[async_trait]
impl Broker for RabbitMq {
    async fn declare(&self) -> Result<(), BrokerError> {
        let link = self.link(&self.consuming).await?;
        let bindings = topology::bindings(&self.names, self.partitions);
        declare::declare(&link, &self.items(), &bindings).await
    }

    async fn topology(&self) -> Result<Vec<Finding>, BrokerError> {
        let link = self.link(&self.consuming).await?;
        let mut findings = Vec::from_iter(version::finding(&self.uri).await);
        findings.extend(declare::inspect(&link, &self.items()).await?);
        Ok(findings)
    }

    async fn publish(&self, messages: Vec<Message>) -> Vec<Result<(), PublishError>> {
        let away = vec![Err(PublishError::Away); messages.len()];
        // Asked before it queues behind a set that waits in vain.
        match self.link(&self.publishing).await {
            Ok(link) if !link.blocked() => {}
            Ok(_) | Err(_) => return away,
        }
        let (answer, answered) = oneshot::channel();
        if self.publisher().await.send(Job { messages, answer }).await.is_err() {
            return away;
        }
        answered.await.unwrap_or(away)
    }

    async fn consume(&self, partition: u16, prefetch: u16) -> Result<Box<dyn Consumer>, BrokerError> {
        match self.register(&self.names.issue(partition), prefetch).await? {
            Ok(consumer) => Ok(Box::new(consumer)),
            Err(Failure::NotFound) => Err(BrokerError::NoQueue(partition)),
            Err(failure) => Err(failure.away()),
        }
    }

    async fn consume_dead(&self, prefetch: u16) -> Result<Box<dyn Consumer>, BrokerError> {
        let consumer = self.register(&self.names.dead(), prefetch).await?.map_err(Failure::away)?;
        Ok(Box::new(consumer))
    }

    async fn wake(&self, body: Vec<u8>) -> Result<(), BrokerError> {
        if self.closing.is_cancelled() {
            return Err(BrokerError::Closed);
        }
        self.waker.send(&body).await
    }

    async fn wakes(&self) -> Result<Box<dyn Wakes>, BrokerError> {
        let link = self.link(&self.consuming).await?;
        let subscribed = RabbitWakes::subscribe(link, &self.names.wake(), self.closing.clone()).await;
        Ok(Box::new(subscribed.map_err(Failure::away)?))
    }

    async fn depth(&self, partition: u16) -> Result<u64, BrokerError> {
        let link = self.link(&self.consuming).await?;
        // A channel of its own, because the answer that there is no queue closes it.
        let channel = link.channel().await.map_err(Failure::away)?;
        let passive = QueueDeclareOptions { passive: true, ..Default::default() };
        let name = self.names.issue(partition).into();
        let queue = link.trusted(channel.queue_declare(name, passive, FieldTable::default())).await;
        link.close_channel(&channel).await;
        match queue {
            Ok(queue) => Ok(u64::from(queue.message_count())),
            Err(Failure::NotFound) => Err(BrokerError::NoQueue(partition)),
            Err(failure) => Err(failure.away()),
        }
    }

    async fn ping(&self) -> Result<(), BrokerError> {
        for line in [&self.publishing, &self.consuming] {
            let link = self.link(line).await?;
            if link.blocked() {
                return Err(BrokerError::Away("the broker is short of memory or disk".to_owned()));
            }
            let channel = link.channel().await.map_err(Failure::away)?;
            link.close_channel(&channel).await;
        }
        Ok(())
    }

    async fn close(&self) {
        self.closing.cancel();
        self.users.close();
        // What is still waiting then has lost its chance; the sweeper publishes it again.
        let _ = timeout(CLOSE_BOUND, self.users.wait()).await;
        self.stop.cancel();
        self.lines.close();
        let _ = timeout(CLOSE_BOUND, self.lines.wait()).await;
    }
}

impl Drop for RabbitMq {
    fn drop(&mut self) {
        self.closing.cancel();
        self.stop.cancel();
    }
}
