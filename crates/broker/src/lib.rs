//! The message seam: publish, consume, acknowledge, wake.
//!
//! It moves bytes. It knows no order, decides no retry and stores nothing of its own: whatever it
//! loses, the sweeper publishes again, because an order's state is the truth and a message only the
//! hint that it changed. The courier publishes, the issuer consumes, the API listens for wake-ups.

mod broker;
mod error;
mod message;

pub use broker::{Broker, Consumer, Wakes};
pub use error::{BrokerError, PublishError};
pub use message::{Delivery, Message};
