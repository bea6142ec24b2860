//! What goes in and what comes out. Bodies are opaque, and `Debug` shows only their length, so that
//! none reaches a log by accident.

use std::fmt;

/// A message to publish on the events exchange.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// Where it goes: `order.paid.0`, `stock.added.3`; the last word is the partition.
    pub routing_key: String,
    /// The event's id: the same at every publication of the same event.
    pub message_id: String,
    /// The event's kind, `order.paid` or `stock.added` (`type` in AMQP).
    pub kind: String,
    /// The W3C trace context of whoever caused it, for those who read the queue from outside.
    pub traceparent: Option<String>,
    /// The payload.
    pub body: Vec<u8>,
}

/// A message handed to a consumer, not yet acknowledged.
#[derive(Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its number in this consumer's session, from 1 upwards; means nothing in another session.
    pub tag: u64,
    /// Whether it may have been handed out before; true for all that came back from a session.
    pub redelivered: bool,
    /// The event's id; absent when a stranger published without one.
    pub message_id: Option<String>,
    /// The event's kind; absent when a stranger published without one.
    pub kind: Option<String>,
    /// The payload.
    pub body: Vec<u8>,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("routing_key", &self.routing_key)
            .field("message_id", &self.message_id)
            .field("kind", &self.kind)
            .field("traceparent", &self.traceparent)
            .field("body_len", &self.body.len())
            .finish()
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("tag", &self.tag)
            .field("redelivered", &self.redelivered)
            .field("message_id", &self.message_id)
            .field("kind", &self.kind)
            .field("body_len", &self.body.len())
            .finish()
    }
}
