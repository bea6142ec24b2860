//! Wake-ups: a fanout exchange, and a queue for each subscriber that vanishes with it.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use lapin::options::{
    BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, BasicQosOptions, QueueBindOptions,
    QueueDeclareOptions,
};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::line::Line;
use super::link::Link;
use crate::{BrokerError, Wakes};

/// How many wake-ups a subscriber's queue holds before the oldest is dropped.
const QUEUE_MAX: i32 = 256;
/// How many are on their way to a subscriber at a time.
const PREFETCH: u16 = 64;
/// AMQP's delivery mode of a message that need not outlive the broker.
const TRANSIENT: u8 = 1;

/// Sends wake-ups, on a channel of its own that is opened again when it fails.
pub(super) struct Waker {
    line: Arc<Line>,
    exchange: String,
    open: Mutex<Option<(Arc<Link>, Channel)>>,
}

impl Waker {
    pub(super) fn new(line: Arc<Line>, exchange: String) -> Self {
        Self { line, exchange, open: Mutex::new(None) }
    }

    /// Hands a wake-up to the broker, unconfirmed.
    pub(super) async fn send(&self, body: &[u8]) -> Result<(), BrokerError> {
        let link = self.line.link().await?;
        if link.blocked() {
            return Err(BrokerError::Away("the broker is short of memory or disk".to_owned()));
        }
        let mut open = self.open.lock().await;
        let usable =
            matches!(&*open, Some((on, channel)) if Arc::ptr_eq(on, &link) && channel.status().connected());
        let channel = match open.take() {
            Some((_, channel)) if usable => channel,
            _ => link.channel().await.map_err(Failure::away)?,
        };
        let properties = BasicProperties::default()
            .with_delivery_mode(TRANSIENT)
            .with_content_type("application/json".into());
        let exchange = self.exchange.as_str().into();
        let sent =
            channel.basic_publish(exchange, "".into(), BasicPublishOptions::default(), body, properties);
        link.trusted(sent).await.map_err(Failure::away)?;
        *open = Some((link, channel));
        Ok(())
    }
}

/// A subscription; dropping it ends it.
pub(super) struct RabbitWakes {
    /// None once it is lost.
    deliveries: Option<lapin::Consumer>,
    closing: CancellationToken,
    // Dropped last: without them the library closes the channel under the consumer.
    _channel: Channel,
    _link: Arc<Link>,
}

impl RabbitWakes {
    /// Declares a queue, binds it and listens.
    pub(super) async fn subscribe(
        link: Arc<Link>,
        exchange: &str,
        closing: CancellationToken,
    ) -> Result<Self, Failure> {
        let channel = link.channel().await?;
        let queue = QueueDeclareOptions { exclusive: true, auto_delete: true, ..Default::default() };
        let queue = link.trusted(channel.queue_declare("".into(), queue, bounds())).await?.name().clone();
        let bind = QueueBindOptions::default();
        let bound =
            channel.queue_bind(queue.clone(), exchange.into(), "".into(), bind, FieldTable::default());
        link.trusted(bound).await?;
        link.trusted(channel.basic_qos(PREFETCH, BasicQosOptions { global: false })).await?;
        let consume = BasicConsumeOptions { exclusive: true, ..Default::default() };
        let deliveries = channel.basic_consume(queue, "".into(), consume, FieldTable::default());
        let deliveries = link.trusted(deliveries).await?;
        Ok(Self { deliveries: Some(deliveries), closing, _channel: channel, _link: link })
    }
}

/// A queue that forgets the oldest.
fn bounds() -> FieldTable {
    let mut arguments = FieldTable::default();
    arguments.insert("x-max-length".into(), AMQPValue::LongInt(QUEUE_MAX));
    arguments.insert("x-overflow".into(), AMQPValue::LongString("drop-head".into()));
    arguments
}

#[async_trait]
impl Wakes for RabbitWakes {
    async fn next(&mut self) -> Option<Vec<u8>> {
        let deliveries = self.deliveries.as_mut()?;
        let delivery = tokio::select! {
            biased;
            () = self.closing.cancelled() => None,
            delivery = deliveries.next() => delivery.and_then(Result::ok),
        };
        let Some(delivery) = delivery else {
            // Asked again, a stream that has ended would wait.
            self.deliveries = None;
            return None;
        };
        // Sent from a task, so that dropping this future loses nothing. Without the answer the
        // subscription ends by itself.
        let acker = delivery.acker;
        tokio::spawn(async move { acker.ack(BasicAckOptions::default()).await });
        Some(delivery.data)
    }
}
