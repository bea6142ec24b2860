//! Messages of the issue queue, decoded once.
//!
//! ```json
//! {"v":1,"event_id":"0193…","order_id":"0193…","at":"2026-11-30T12:00:00Z"}
//! ```

use serde::Deserialize;
use serde_json::Value;
use tessera_broker::Delivery;
use tessera_model::ids::{OrderId, ProductId};

use crate::issue::Work;

/// The version this issuer reads.
const VERSION: i64 = 1;

/// A message that is not ours to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// Written by a newer program: not a fault, but nothing for this one.
    #[error("the message has version {0}, newer than {VERSION}: update this issuer")]
    Newer(i64),
    /// Nothing this or any program wrote.
    #[error("the message cannot be decoded: {0}")]
    Malformed(&'static str),
}

#[derive(Deserialize)]
struct Body {
    order_id: Option<String>,
    product_id: Option<String>,
}

/// Decodes a delivery by its type and body.
///
/// # Errors
/// [`Undecodable`] says why not, without quoting the body.
pub fn decode(delivery: &Delivery) -> Result<Work, Undecodable> {
    let malformed = Undecodable::Malformed;
    let body: Value =
        serde_json::from_slice(&delivery.body).map_err(|_| malformed("the body is not JSON"))?;
    let version = body.get("v").and_then(Value::as_i64).ok_or(malformed("the body has no integer `v`"))?;
    if version > VERSION {
        return Err(Undecodable::Newer(version));
    }
    let body = Body::deserialize(&body).map_err(|_| malformed("an id is not a string"))?;
    match delivery.kind.as_deref() {
        Some("order.paid") => {
            let id = body.order_id.ok_or(malformed("the body has no `order_id`"))?;
            OrderId::parse(&id).map(Work::Order).ok_or(malformed("`order_id` is no id"))
        }
        Some("stock.added") => {
            let id = body.product_id.ok_or(malformed("the body has no `product_id`"))?;
            ProductId::parse(&id).map(Work::Stock).ok_or(malformed("`product_id` is no id"))
        }
        Some(_) => Err(malformed("the type is neither order.paid nor stock.added")),
        None => Err(malformed("the message has no type")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::time::Timestamp;

    fn delivery(kind: Option<&str>, body: &str) -> Delivery {
        Delivery {
            tag: 1,
            redelivered: false,
            message_id: None,
            kind: kind.map(str::to_owned),
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn a_paid_order_is_read_and_fields_of_the_future_are_passed_over() {
        let id = OrderId::new(Timestamp::from_micros(1), [1; 10]);
        let body = format!(r#"{{"v":1,"order_id":"{id}","colour":"red"}}"#);
        assert_eq!(decode(&delivery(Some("order.paid"), &body)), Ok(Work::Order(id)));
    }

    #[test]
    fn what_nobody_wrote_cannot_be_decoded() {
        let paid = Some("order.paid");
        for (kind, body) in [
            (paid, ""),
            (paid, "{"),
            (paid, "[]"),
            (paid, r#"{"order_id":"x"}"#),
            (paid, r#"{"v":"1"}"#),
            (paid, r#"{"v":1.5}"#),
            (paid, r#"{"v":1}"#),
            (paid, r#"{"v":1,"order_id":7}"#),
            (paid, r#"{"v":1,"order_id":"x"}"#),
            (Some("order.shipped"), r#"{"v":1}"#),
            (None, r#"{"v":1}"#),
        ] {
            let decoded = decode(&delivery(kind, body));
            assert!(matches!(decoded, Err(Undecodable::Malformed(_))), "{kind:?} {body}");
        }
    }

    #[test]
    fn a_newer_version_is_no_fault_of_the_message() {
        assert_eq!(decode(&delivery(Some("order.split"), r#"{"v":2}"#)), Err(Undecodable::Newer(2)));
    }
}
