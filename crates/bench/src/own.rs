//! A shop of its own, served with all roles in one process by the program built beside this one.

use std::net::SocketAddr;

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::json;
use tessera_testbed::program::{Process, Program};
use tessera_testbed::{Database, Queues};

/// What a shop of its own runs on, as it is asked for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum On {
    /// A file.
    Sqlite,
    /// PostgreSQL and RabbitMQ.
    Servers,
}

/// Where the servers of `--on servers` are.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Addresses {
    /// The PostgreSQL of `--on servers`; databases are made in it and dropped.
    #[arg(long, value_name = "URL", env = "TEST_POSTGRES_URL", hide_env_values = true)]
    pub(crate) postgres: Option<String>,
    /// The RabbitMQ of `--on servers`; queues are made in it and deleted.
    #[arg(long, value_name = "URL", env = "TEST_AMQP_URL", hide_env_values = true)]
    pub(crate) amqp: Option<String>,
}

/// What the shop runs on.
#[derive(Clone)]
pub(crate) enum Engine {
    /// One file, and the broker in the process.
    Sqlite,
    /// A database and queues of its own in these servers: the URLs of PostgreSQL and RabbitMQ.
    Servers { postgres: String, amqp: String },
}

impl Engine {
    /// # Errors
    /// Servers are asked for and nobody said where they are.
    pub(crate) fn new(on: On, addresses: &Addresses) -> anyhow::Result<Self> {
        Ok(match on {
            On::Sqlite => Self::Sqlite,
            On::Servers => {
                let (postgres, amqp) = addresses.postgres.clone().zip(addresses.amqp.clone()).context(
                    "no servers: give --postgres and --amqp, or have them found or started for this run: \
                     tessera-servers -- tessera-bench …",
                )?;
                Self::Servers { postgres, amqp }
            }
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "a shop of one process on SQLite",
            Self::Servers { .. } => "a shop of one process on PostgreSQL and RabbitMQ",
        }
    }
}

/// A shop that serves.
pub(crate) struct Own {
    program: Program,
    server: Process,
    name: &'static str,
}

impl Own {
    /// A shop that sells one product, of which it has so many codes.
    ///
    /// # Panics
    /// When the servers are away, or the program was not built.
    pub(crate) async fn start(engine: &Engine, sku: &str, codes: usize) -> Self {
        let program = match engine {
            Engine::Sqlite => {
                let program = Program::embedded();
                program.json(&["migrate"]).await;
                program
            }
            Engine::Servers { postgres, amqp } => {
                Program::on(Database::create_in(postgres.clone()).await, Queues::at(amqp.clone()))
            }
        };
        product(&program, sku).await;
        program.stock(sku, codes).await;
        let server = program.serve().await;
        Self { program, server, name: engine.name() }
    }

    pub(crate) fn at(&self) -> SocketAddr {
        self.program.listen()
    }

    /// Its program, for commands beside the server.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Ends it once it reconciles; returns what it was.
    pub(crate) async fn close(self) -> String {
        self.program.close(self.server).await;
        self.name.to_owned()
    }
}

/// Puts a product of imported codes into a shop.
pub(crate) async fn product(program: &Program, sku: &str) {
    let price = json!({ "minor": 100, "currency": "CNY" });
    program.products(&json!({ "sku": sku, "name": "A card", "kind": "codes", "price": price })).await;
}
