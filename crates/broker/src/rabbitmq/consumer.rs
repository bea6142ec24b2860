//! One consumer's session: a channel of its own that ends at the first error and never comes back.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{FutureExt, StreamExt};
use lapin::message::Delivery as Delivered;
use lapin::options::{BasicAckOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{Acker, Channel};
use tokio::runtime::Handle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::failure::Failure;
use super::link::Link;
use crate::{BrokerError, Consumer, Delivery};

/// The most a quorum queue hands out ahead.
const PREFETCH_MAX: u16 = 2_000;

/// A registered consumer.
pub(super) struct RabbitConsumer {
    /// None once it is over.
    session: Option<Session>,
    closing: CancellationToken,
    tasks: TaskTracker,
    runtime: Handle,
}

struct Session {
    link: Arc<Link>,
    channel: Channel,
    deliveries: lapin::Consumer,
    /// What was taken, by tag, ascending.
    unacknowledged: VecDeque<(u64, Acker)>,
}

impl RabbitConsumer {
    /// Registers on a queue; returns once the broker has said so.
    pub(super) async fn register(
        link: Arc<Link>,
        queue: &str,
        prefetch: u16,
        closing: CancellationToken,
        tasks: TaskTracker,
    ) -> Result<Self, Failure> {
        let channel = link.channel().await?;
        let deliveries = start(&link, &channel, queue, prefetch).await?;
        let session = Session { link, channel, deliveries, unacknowledged: VecDeque::new() };
        Ok(Self { session: Some(session), closing, tasks, runtime: Handle::current() })
    }

    /// Ends the session, and says what its user is told from now on.
    async fn end(&mut self) -> BrokerError {
        if let Some(session) = self.session.take() {
            // A task, so that it is done even if this is dropped while it waits.
            let _ = self.tasks.spawn_on(session.close(), &self.runtime).await;
        }
        if self.closing.is_cancelled() { BrokerError::Closed } else { BrokerError::SessionLost }
    }
}

/// Limits what comes ahead, then registers: the other way round it would come unlimited.
async fn start(
    link: &Link,
    channel: &Channel,
    queue: &str,
    prefetch: u16,
) -> Result<lapin::Consumer, Failure> {
    let prefetch = prefetch.clamp(1, PREFETCH_MAX);
    link.trusted(channel.basic_qos(prefetch, BasicQosOptions { global: false })).await?;
    let options = BasicConsumeOptions::default();
    link.trusted(channel.basic_consume(queue.into(), "".into(), options, FieldTable::default())).await
}

impl Session {
    /// Waits for the first, then takes what is there; none once the session is over.
    ///
    /// Only the first is waited for, and nothing is awaited after it was taken.
    async fn take(&mut self, max: usize) -> Option<Vec<Delivery>> {
        let mut set = vec![self.deliveries.next().await?.ok()?];
        while set.len() < max {
            match self.deliveries.next().now_or_never() {
                Some(next) => set.push(next?.ok()?),
                None => break,
            }
        }
        Some(set.into_iter().map(|delivered| self.hand_out(delivered)).collect())
    }

    fn hand_out(&mut self, delivered: Delivered) -> Delivery {
        let tag = delivered.delivery_tag;
        self.unacknowledged.push_back((tag, delivered.acker));
        let text = |text: &Option<lapin::types::ShortString>| text.as_ref().map(ToString::to_string);
        Delivery {
            tag,
            redelivered: delivered.redelivered,
            message_id: text(delivered.properties.message_id()),
            kind: text(delivered.properties.kind()),
            body: delivered.data,
        }
    }

    /// Whether the broker was sent the acknowledgement of all up to `tag`.
    async fn acknowledge(&mut self, tag: u64) -> bool {
        let Ok(last) = self.unacknowledged.binary_search_by_key(&tag, |(tag, _)| *tag) else { return false };
        let Some((_, acker)) = self.unacknowledged.drain(..=last).next_back() else { return false };
        // Exactly the prefix: what was not taken yet has higher tags.
        let acknowledgement = acker.ack(BasicAckOptions { multiple: true });
        matches!(self.link.trusted(acknowledgement).await, Ok(true))
    }

    /// Closes the channel. Cancelling the consumer would keep what it has not acknowledged from the next
    /// one, which is active at once.
    async fn close(self) {
        self.link.close_channel(&self.channel).await;
    }
}

#[async_trait]
impl Consumer for RabbitConsumer {
    async fn next_set(&mut self, max: usize) -> Result<Vec<Delivery>, BrokerError> {
        let set = match &mut self.session {
            Some(session) => tokio::select! {
                biased;
                () = self.closing.cancelled() => None,
                set = session.take(max.max(1)) => set,
            },
            None => None,
        };
        match set {
            Some(set) => Ok(set),
            None => Err(self.end().await),
        }
    }

    async fn acknowledge(&mut self, tag: u64) -> Result<(), BrokerError> {
        let acknowledged = match &mut self.session {
            Some(session) => session.acknowledge(tag).await,
            None => false,
        };
        if acknowledged { Ok(()) } else { Err(self.end().await) }
    }

    async fn close(mut self: Box<Self>) {
        self.end().await;
    }
}

impl Drop for RabbitConsumer {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.tasks.spawn_on(session.close(), &self.runtime);
        }
    }
}
