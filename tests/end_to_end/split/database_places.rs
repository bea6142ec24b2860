//! A database that lets a user have hardly any connections.

use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tessera_testbed::program::{Client, Program, Receipt};
use tessera_testbed::{Database, Engine, Queues, Scenario, servers};
use tokio::task::JoinSet;

use super::{close, codes_of, process, stock};
use crate::faults::told_to_come_again;

/// Connections that the server lets the shop's user have; its two processes would like eight each.
const PLACES: usize = 5;

const ALL_ISSUED: Scenario = Scenario {
    number: 46,
    fault: "200 buyers while the database has 5 connections for two processes",
    until: "all issued",
    bound: Duration::from_secs(25),
};

const BUYERS: usize = 200;

/// What a buyer may be told to come again for: a moment's crowd, not most of what it asks.
const REFUSED_MAX: usize = BUYERS / 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_is_served_by_processes_that_are_short_of_connections() {
    let database = Database::create().await;
    let user = User::owning(&database).await;
    let url = user.url(&database);
    let program = Program::unprepared(database, Queues::shared()).with("DATABASE__URL", &url);
    program.prepare();
    stock(&program, BUYERS + 1).await;
    user.limit(PLACES).await;
    let front = process(&program, "front", "api,courier,housekeeper").await;
    let issuer = process(&program, "issuer", "issuer").await;

    let since = Instant::now();
    let mut buyers = JoinSet::new();
    for number in 0..BUYERS {
        buyers.spawn(bought_at_last(program.client(), number));
    }
    let (receipts, refused): (Vec<Receipt>, Vec<usize>) = buyers.join_all().await.into_iter().unzip();
    let refused: usize = refused.into_iter().sum();
    let codes = codes_of(&program.client(), &receipts).await;
    ALL_ISSUED.recovered(Engine::Postgres, since.elapsed());
    println!("{refused} times a buyer was told to come again");
    assert_eq!(codes.len(), BUYERS);
    assert!(refused <= REFUSED_MAX, "{refused} times a buyer was told to come again");
    close(program, vec![front, issuer]).await;
    user.drop().await;
}

/// Buys until it is done; returns also how often it was told to come again.
async fn bought_at_last(client: Client, number: usize) -> (Receipt, usize) {
    let (key, mut refused) = (format!("key-of-buyer-{number}"), 0);
    let receipt = loop {
        let placed = client.place_keyed(&key, &key, &[("card", 1)]).await.unwrap();
        match placed.status {
            200 | 201 => break placed.receipt(),
            _ => told_to_come_again(&placed),
        }
        refused += 1;
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    loop {
        let paid = client.pay(&receipt).await.unwrap();
        match paid.status {
            200 | 202 => return (receipt, refused),
            _ => told_to_come_again(&paid),
        }
        refused += 1;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// A user of a test's own: limits hold for no superuser.
struct User(String);

impl User {
    /// Makes one that owns a database.
    async fn owning(database: &Database) -> Self {
        let user = Self(format!("owner_of_{}", database.name()));
        let (name, owned) = (&user.0, database.name());
        administer(&format!("CREATE ROLE {name} LOGIN PASSWORD '{name}'")).await;
        administer(&format!("ALTER DATABASE {owned} OWNER TO {name}")).await;
        user
    }

    /// The database's address for this user.
    fn url(&self, database: &Database) -> String {
        let (name, owned) = (&self.0, database.name());
        format!("postgres://{name}:{name}@{}/{owned}", servers::address_of(&database.url()))
    }

    async fn limit(&self, connections: usize) {
        administer(&format!("ALTER ROLE {} CONNECTION LIMIT {connections}", self.0)).await;
    }

    /// Once its database is gone.
    async fn drop(self) {
        administer(&format!("DROP ROLE {}", self.0)).await;
    }
}

async fn administer(statement: &str) {
    let mut server = PgConnection::connect(&servers::postgres_url()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut server).await.unwrap();
    server.close().await.unwrap();
}
