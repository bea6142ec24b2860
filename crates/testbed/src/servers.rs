//! PostgreSQL and RabbitMQ for tests: how they are found, started, hurt and ended.
//!
//! The program `tessera-servers` finds or starts a pair and holds it: see [`holder`]. A test that has to kill,
//! freeze or restart a server has one of its own: see [`Own`]. For each server the ways are, in this order:
//! one that is given by [`Server::variable`]; a container; what is installed here, started privately; and, as
//! root where there is `apt-get`, installing it first.

use std::fmt;

mod apt;
mod container;
mod find;
mod held;
pub mod holder;
mod installed;
mod launch;
mod own;
mod ports;
pub mod processes;
mod ready;
mod running;
mod url;

pub use own::{DECLARED_AFTER, Own};
pub use url::{address_of, amqp_url, at, postgres_url};

/// How the servers were found, for those who look for one more: `given`, `containers` or `installed`.
pub const WAY_VARIABLE: &str = "TEST_SERVERS";

/// The two servers that Tessera works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The database.
    Postgres,
    /// The broker.
    Rabbit,
}

impl Server {
    /// The environment variable that holds its address.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Postgres => "TEST_POSTGRES_URL",
            Self::Rabbit => "TEST_AMQP_URL",
        }
    }

    /// The word for it on the holder's command line.
    fn word(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Rabbit => "rabbit",
        }
    }

    /// The Debian package that brings it.
    fn package(self) -> &'static str {
        match self {
            Self::Postgres => "postgresql",
            Self::Rabbit => "rabbitmq-server",
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Postgres => "PostgreSQL",
            Self::Rabbit => "RabbitMQ",
        })
    }
}

/// Why a server could not be had, or did not do what it was told; a sentence for the terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(String);

impl Trouble {
    fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    /// Says what was being done when the error came.
    fn during<E: fmt::Display>(doing: &str) -> impl Fn(E) -> Self {
        move |error| Self(format!("{doing}: {error}"))
    }
}
