//! The message suite on RabbitMQ, through a proxy, and what only RabbitMQ does.
//!
//! They need a real server (`TEST_AMQP_URL`). Each test has names of its own and deletes what it made.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what a test did not expect to fail fails it")]

mod harness;

mod library;

mod closing;
mod dead_letters;
mod outages;
mod publishing;
mod sessions;
mod topology;

use harness::Rabbit;

tessera_broker::conformance_suite!(Rabbit::start().await);
