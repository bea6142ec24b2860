//! What tests and the bench run a shop with: a whole one in one process, and faults to give it.
//!
//! [`Shop`] is a shop over a SQLite file or a PostgreSQL database of its own, with a clock that stands still until it is
//! moved, seeded randomness and the broker that goes with its engine. Its verbs are those of buyers, providers, operators and
//! the issuer. [`Faults`] makes the store beneath it fail, panic or stand still where a test says so.
//! [`program::Program`] is the real binary over a folder, its processes and clients. [`servers`] are PostgreSQL and
//! RabbitMQ, found or started; [`Rabbit`] is a broker with queues of its own there; [`Proxy`] stands between a program and
//! one of them, and takes it away. [`Scenario`] is what a fault may cost. Nothing of
//! the product depends on this crate.

mod note;

pub mod broker;
pub mod chaos;
pub mod database;
pub mod faults;
pub mod program;
pub mod proxy;
pub mod queues;
pub mod rabbit;
pub mod recovery;
pub mod servers;
pub mod shop;

pub use broker::TestBroker;
pub use database::Database;
pub use faults::{ANY, Faults, FaultyStore, Hang, How};
pub use note::MemoryNote;
pub use proxy::Proxy;
pub use queues::Queues;
pub use rabbit::Rabbit;
pub use recovery::Scenario;
pub use shop::{Backup, Engine, Issuer, Shop};
pub use tessera_store::conformance::MockClock;
