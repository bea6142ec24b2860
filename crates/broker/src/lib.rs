//! The message seam: publish, consume, acknowledge, wake.
//!
//! It moves bytes. It knows no order, decides no retry and stores nothing of its own: whatever it
//! loses, the sweeper publishes again, because an order's state is the truth and a message only the
//! hint that it changed. The courier publishes, the issuer consumes, the API listens for wake-ups.
//!
//! [`InProcess`] is the twin for one process with nothing installed, [`RabbitMq`] that for several. Every twin passes the suite in
//! `conformance` (a cargo feature of the same name, for tests).

mod broker;
mod error;
mod finding;
mod message;

mod in_process;
mod rabbitmq;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use broker::{Broker, Consumer, Wakes};
pub use error::{BrokerError, PublishError};
pub use finding::{Finding, Found};
pub use in_process::{InProcess, QUEUE_CAPACITY, WAKES_CAPACITY};
pub use message::{Delivery, Message};
pub use rabbitmq::{DELIVERY_LIMIT, Options, OptionsError, RabbitMq};
