//! What happens on the way to the servers: silence, resets, slowness, wake-ups that never come.

use std::time::Duration;

use tessera_testbed::Proxy;
use tessera_testbed::program::{Answer, Client, Process, Program, Receipt};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{FRONT, close, selling};

mod half_open;
mod resets;
mod slow_link;
mod wakes;

/// How long a buyer who was told to come later stays away.
const AWAY: Duration = Duration::from_millis(100);

/// A shop whose processes reach both servers through proxies; its commands and the test go past them.
struct Wired {
    program: Program,
    database: Proxy,
    broker: Proxy,
    database_url: String,
    broker_url: String,
}

impl Wired {
    /// Sells `card`, with so many codes of it.
    async fn selling(count: usize) -> Self {
        let program = selling(count).await;
        let servers = program.servers();
        let (database, database_url) = Proxy::before(&servers.database.url()).await.unwrap();
        let (broker, broker_url) = Proxy::before(servers.queues.url()).await.unwrap();
        Self { program, database, broker, database_url, broker_url }
    }

    /// A process with these roles behind the proxies, once it is ready.
    async fn process(&self, host: &str, roles: &str) -> Process {
        let mut line = self.program.line_elsewhere(host, &["serve", "--role", roles]);
        line.env("TESSERA_DATABASE__URL", &self.database_url).env("TESSERA_BROKER__URL", &self.broker_url);
        let process = self.program.start_line(line);
        process.until_line("ready").await;
        process
    }

    /// All roles, in two processes behind the proxies.
    async fn processes(&self) -> Vec<Process> {
        vec![self.process("front", FRONT).await, self.process("issuer", "issuer").await]
    }

    /// Closes the shop; every order is one that a buyer knows of.
    async fn close(self, processes: Vec<Process>, orders: usize) {
        let stored = self.program.number("SELECT count(*) FROM orders").await;
        assert_eq!(usize::try_from(stored), Ok(orders), "a key made two orders");
        close(self.program, processes).await;
    }
}

/// So many orders, placed under keys and paid, each as often as it takes; `name` is theirs alone.
async fn bought_at_last(client: &Client, name: &str, count: usize) -> Vec<Receipt> {
    let mut buyers = JoinSet::new();
    for number in 0..count {
        buyers.spawn(buy_at_last(client.clone(), format!("{name}-{number:04}")));
    }
    buyers.join_all().await
}

async fn buy_at_last(client: Client, name: String) -> Receipt {
    let receipt = loop {
        let placed = client.place_keyed(&format!("key-of-{name}"), &name, &[("card", 1)]).await.unwrap();
        if matches!(placed.status, 200 | 201) {
            break placed.receipt();
        }
        told_to_wait(&placed).await;
    };
    loop {
        let paid = client.pay(&receipt).await.unwrap();
        if matches!(paid.status, 200 | 202) {
            return receipt;
        }
        told_to_wait(&paid).await;
    }
}

/// The only other answer is one that says when to come again.
async fn told_to_wait(answer: &Answer) {
    assert_eq!((answer.status, answer.problem()), (503, "unavailable"), "{}", answer.text);
    assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
    sleep(AWAY).await;
}
