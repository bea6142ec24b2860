//! The exchanges, queues and bindings that this program wants.
//!
//! All that matters is an argument of the declaration, not a policy: whoever can declare can run the shop,
//! and a difference is found when the issuer starts.

use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, ExchangeKind};

use super::names::Names;

/// How often a dead letter may be handed out and come back: never reached. Without a limit of its own
/// RabbitMQ 4 drops it after 20, and 3 does not know -1 for none.
const DEAD_DELIVERY_LIMIT: i32 = 1_000_000_000;

/// How an exchange or queue is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Created if it is not there.
    Actively,
    /// Only looked at.
    Passively,
}

/// One exchange or queue.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Exchange { name: String, kind: ExchangeKind },
    Queue { name: String, arguments: FieldTable },
}

/// One binding of a queue to the events exchange.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    queue: String,
    exchange: String,
    routing_key: String,
}

/// What a shop of so many partitions wants, what others refer to first.
pub(super) fn items(names: &Names, partitions: u16, delivery_limit: u16) -> Vec<Item> {
    let mut items = vec![
        Item::Exchange { name: names.events(), kind: ExchangeKind::Topic },
        Item::Exchange { name: names.wake(), kind: ExchangeKind::Fanout },
        Item::Queue { name: names.dead(), arguments: dead() },
    ];
    items.extend((0..partitions).map(|partition| Item::Queue {
        name: names.issue(partition),
        arguments: issue(&names.dead(), delivery_limit),
    }));
    items
}

/// Both kinds of events go to their partition's queue.
pub(super) fn bindings(names: &Names, partitions: u16) -> Vec<Binding> {
    let binding = |partition: u16, event: &str| Binding {
        queue: names.issue(partition),
        exchange: names.events(),
        routing_key: format!("{event}.{partition}"),
    };
    (0..partitions).flat_map(|n| [binding(n, "order.paid"), binding(n, "stock.added")]).collect()
}

/// One consumer is active, and what comes back too often is moved, not lost: at-least-once needs
/// all three of strategy, overflow and exchange, and does not say so if one is missing.
fn issue(dead: &str, delivery_limit: u16) -> FieldTable {
    let mut arguments = quorum(i32::from(delivery_limit));
    arguments.insert("x-single-active-consumer".into(), AMQPValue::Boolean(true));
    arguments.insert("x-dead-letter-strategy".into(), text("at-least-once"));
    arguments.insert("x-overflow".into(), text("reject-publish"));
    arguments.insert("x-dead-letter-exchange".into(), text(""));
    arguments.insert("x-dead-letter-routing-key".into(), text(dead));
    arguments
}

fn dead() -> FieldTable {
    quorum(DEAD_DELIVERY_LIMIT)
}

fn quorum(delivery_limit: i32) -> FieldTable {
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), text("quorum"));
    arguments.insert("x-delivery-limit".into(), AMQPValue::LongInt(delivery_limit));
    arguments
}

fn text(text: &str) -> AMQPValue {
    AMQPValue::LongString(text.into())
}

impl Item {
    /// `queue tessera.dead`.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Exchange { name, .. } => format!("exchange {name}"),
            Self::Queue { name, .. } => format!("queue {name}"),
        }
    }

    pub(super) async fn declare(&self, channel: &Channel, how: How) -> lapin::Result<()> {
        let passive = how == How::Passively;
        match self {
            Self::Exchange { name, kind } => {
                let options = ExchangeDeclareOptions { passive, durable: true, ..Default::default() };
                channel
                    .exchange_declare(name.as_str().into(), kind.clone(), options, FieldTable::default())
                    .await
            }
            Self::Queue { name, arguments } => {
                let options = QueueDeclareOptions { passive, durable: true, ..Default::default() };
                channel.queue_declare(name.as_str().into(), options, arguments.clone()).await.map(drop)
            }
        }
    }
}

impl Binding {
    pub(super) async fn declare(&self, channel: &Channel) -> lapin::Result<()> {
        let (queue, exchange) = (self.queue.as_str().into(), self.exchange.as_str().into());
        let key = self.routing_key.as_str().into();
        channel.queue_bind(queue, exchange, key, QueueBindOptions::default(), FieldTable::default()).await
    }
}
