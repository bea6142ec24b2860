//! The storage suite on PostgreSQL, and what only PostgreSQL can get wrong: locks, connections, its clock.

#![expect(clippy::expect_used, reason = "helpers of tests fail their test")]

use std::sync::Arc;

use async_trait::async_trait;
use tessera_store::conformance::Harness;
use tessera_store::{Clock, Store};
use tessera_store_postgres::{Postgres, Time};
use tessera_testbed::Database;

mod connections;
mod waiting;

/// Connections of one store here.
const CONNECTIONS: u32 = 4;

struct Server(Database);

#[async_trait]
impl Harness for Server {
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        let store = Postgres::connect(&self.0.url(), CONNECTIONS, Time::Given(clock)).await;
        Arc::new(store.expect("the database is there"))
    }
}

tessera_store::conformance_suite!(Server(Database::create().await));
