//! Identifiers: `UUIDv7`, made from a time and random bytes that are arguments.

use uuid::{Builder, Uuid};

use crate::time::Timestamp;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id whose order follows `at`, to the millisecond (RFC 9562, version 7).
            pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
                Self(Builder::from_unix_timestamp_millis(at.millis(), &random).into_uuid())
            }

            /// The id with these bits, whatever made it.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The bits.
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// Reads the hyphenated form; nothing else is one of our ids.
            pub fn parse(text: &str) -> Option<Self> {
                if text.len() != 36 {
                    return None;
                }
                Uuid::try_parse(text).ok().map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

id! {
    /// A product of the shop.
    ProductId;
    /// A batch of codes.
    BatchId;
    /// An order.
    OrderId;
    /// A payment that arrived.
    PaymentId;
    /// A fact that is published.
    EventId;
    /// A notice kept for operators.
    NoticeId;
    /// A dead letter.
    LetterId;
    /// An operator's or a merchant's key.
    ApiKeyId;
}

/// The event of an order that became paid: derived, so that publishing it again repeats the id.
impl From<OrderId> for EventId {
    fn from(order: OrderId) -> Self {
        let mut bytes = *order.uuid().as_bytes();
        // The last bits are random; flipping them gives an id of its own that is always the same.
        bytes[8] ^= 0x20;
        bytes[15] ^= 0xff;
        Self(Uuid::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_the_time_they_were_made() {
        let early = OrderId::new(Timestamp::from_micros(1_000_000), [0xff; 10]);
        let late = OrderId::new(Timestamp::from_micros(1_001_000), [0; 10]);
        assert!(early < late);
        assert_eq!(early.uuid().get_version_num(), 7);
    }

    #[test]
    fn only_the_hyphenated_form_is_an_id() {
        let id = OrderId::new(Timestamp::from_micros(5), [7; 10]);
        assert_eq!(OrderId::parse(&id.to_string()), Some(id));
        assert_eq!(OrderId::parse(&id.uuid().simple().to_string()), None);
        assert_eq!(OrderId::parse("zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz"), None);
    }

    #[test]
    fn the_event_of_an_order_is_always_the_same_and_not_the_order() {
        let id = OrderId::new(Timestamp::from_micros(5), [7; 10]);
        assert_eq!(EventId::from(id), EventId::from(id));
        assert_ne!(EventId::from(id).uuid(), id.uuid());
        assert_eq!(EventId::from(id).uuid().get_version_num(), 7);
    }
}
