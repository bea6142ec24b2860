//! Facts as messages. Ids and times only; never a code, a token or an address.

use serde::Serialize;
use tessera_broker::Message;
use tessera_model::event::{Event, Fact, partition_of};
use tessera_model::ids::OrderId;
use time::format_description::well_known::Rfc3339;

#[derive(Serialize)]
struct Body {
    v: u8,
    event_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    product_id: Option<String>,
    at: String,
}

/// The message of an event, routed to the queue of its product.
pub fn message(event: &Event, partitions: u16) -> Message {
    let (order_id, product_id) = match event.fact {
        Fact::OrderPaid(order) => (Some(order.to_string()), None),
        Fact::StockAdded(product) => (None, Some(product.to_string())),
    };
    let at = time::OffsetDateTime::from_unix_timestamp_nanos(i128::from(event.at.micros()) * 1000)
        .ok()
        .and_then(|at| at.format(&Rfc3339).ok())
        .unwrap_or_default();
    let body = Body { v: 1, event_id: event.id.to_string(), order_id, product_id, at };
    Message {
        routing_key: format!("{}.{}", event.fact.name(), partition_of(event.product, partitions)),
        message_id: event.id.to_string(),
        kind: event.fact.name().to_owned(),
        traceparent: None,
        // Strings and a number always serialise; an empty body would become a dead letter, not a loss.
        body: serde_json::to_vec(&body).unwrap_or_default(),
    }
}

/// The order a message's body names, if it names one.
pub(crate) fn order_in(body: &[u8]) -> Option<OrderId> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    OrderId::parse(body.get("order_id")?.as_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::ids::{EventId, ProductId};
    use tessera_model::time::Timestamp;

    #[test]
    fn the_message_of_an_order_is_always_the_same() {
        let at = Timestamp::from_micros(1_700_000_000_000_000);
        let order = OrderId::new(at, [1; 10]);
        let product = ProductId::new(at, [2; 10]);
        let event = Event { id: EventId::from(order), fact: Fact::OrderPaid(order), product, at };
        let sent = message(&event, 1);
        assert_eq!(sent.routing_key, "order.paid.0");
        assert_eq!(sent.message_id, EventId::from(order).to_string());
        let body: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(body["order_id"], order.to_string());
        assert_eq!(body["at"], "2023-11-14T22:13:20Z");
        assert_eq!(body.get("product_id"), None);
        assert_eq!(order_in(&sent.body), Some(order));
        assert_eq!(order_in(b"{\"order_id\": 7}"), None);
    }
}
