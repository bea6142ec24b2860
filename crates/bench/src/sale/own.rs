//! A shop of its own, served with all roles in one process by the program built beside this one.

use std::net::SocketAddr;

use serde_json::json;
use tessera_testbed::program::{Process, Program};
use tessera_testbed::{Database, Queues};

/// What the shop runs on.
#[derive(Clone)]
pub(crate) enum Engine {
    /// One file, and the broker in the process.
    Sqlite,
    /// A database and queues of its own in these servers: the URLs of PostgreSQL and RabbitMQ.
    Servers { postgres: String, amqp: String },
}

impl Engine {
    fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "a shop of one process on SQLite",
            Self::Servers { .. } => "a shop of one process on PostgreSQL and RabbitMQ",
        }
    }
}

/// A shop that serves.
pub(super) struct Own {
    program: Program,
    server: Process,
    name: &'static str,
}

impl Own {
    /// # Panics
    /// When the servers are away, or the program was not built.
    pub(super) async fn start(engine: &Engine, sku: &str, codes: usize) -> Self {
        let program = match engine {
            Engine::Sqlite => Program::embedded(),
            Engine::Servers { postgres, amqp } => {
                Program::on(Database::create_in(postgres.clone()).await, Queues::at(amqp.clone()))
            }
        };
        let price = json!({ "minor": 100, "currency": "CNY" });
        program.products(&json!({ "sku": sku, "name": "A card", "kind": "codes", "price": price })).await;
        program.stock(sku, codes).await;
        let server = program.serve().await;
        Self { program, server, name: engine.name() }
    }

    pub(super) fn at(&self) -> SocketAddr {
        self.program.listen()
    }

    /// Ends it once it reconciles; returns what it was.
    pub(super) async fn close(self) -> String {
        self.program.close(self.server).await;
        self.name.to_owned()
    }
}
