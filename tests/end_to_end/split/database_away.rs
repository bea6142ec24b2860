//! The database dies under a crowd.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use tessera_testbed::program::{Answer, Client, Program, Receipt};
use tessera_testbed::servers::Own;
use tessera_testbed::{Database, Engine, Queues, Scenario};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::stock;

/// A connection is tried again every 5 s; the crowd has kept asking, and is served as well.
const SERVED_AFTER_KILL: Scenario = Scenario {
    number: 33,
    fault: "PostgreSQL killed under load, away for 3 s",
    until: "orders are taken and paid",
    bound: Duration::from_secs(15),
};

const SERVED_AFTER_QUIT: Scenario =
    Scenario { fault: "PostgreSQL stopped at once under load, away for 3 s", ..SERVED_AFTER_KILL };

const CROWD: usize = 200;
const STOCK: usize = 5_000;

/// How long the database is dead.
const DEAD: Duration = Duration::from_secs(3);

const IDLE: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE datname = current_database() AND state LIKE 'idle in transaction%'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_database_is_told_to_buyers_and_costs_nothing_but_time() {
    told_to_buyers(&SERVED_AFTER_KILL, async |postgres| postgres.kill().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_stopped_at_once_is_told_to_buyers_and_costs_nothing_but_time() {
    told_to_buyers(&SERVED_AFTER_QUIT, async |postgres| postgres.quit().await).await;
}

async fn told_to_buyers(scenario: &Scenario, end: impl AsyncFnOnce(&Own)) {
    let postgres = Own::postgres().await;
    let program = Program::on(Database::create_in(postgres.url().to_owned()).await, Queues::shared());
    stock(&program, STOCK).await;
    let server = program.serve().await;

    let over = watch::Sender::new(false);
    let mut crowd = JoinSet::new();
    for number in 0..CROWD {
        crowd.spawn(buy_until_over(program.client(), number, over.subscribe()));
    }
    // It dies under way, whatever is under way.
    tokio::time::sleep(Duration::from_secs(1)).await;
    end(&postgres).await;
    tokio::time::sleep(DEAD).await;
    postgres.start().await;
    let back = Instant::now();
    // And is used again.
    served(&program.client()).await;
    scenario.recovered(Engine::Postgres, back.elapsed());
    over.send_replace(true);
    let told: Vec<(Vec<Receipt>, usize)> = crowd.join_all().await;

    let (receipts, refused): (Vec<_>, Vec<_>) = told.into_iter().unzip();
    assert!(refused.iter().sum::<usize>() > 0, "nobody was told that the database is away");
    let receipts: Vec<Receipt> = receipts.into_iter().flatten().collect();
    let mut codes = HashSet::new();
    for receipt in &receipts {
        let order = program.client().get_waiting(receipt, 30).await.unwrap().with_status(200);
        assert_eq!(order.order_status(), "issued", "{}", order.text);
        codes.extend(order.codes());
    }
    assert_eq!(codes.len(), receipts.len(), "a code went out twice");
    let stored = program.number("SELECT count(*) FROM orders").await;
    assert_eq!(usize::try_from(stored), Ok(receipts.len() + 1), "a key made two orders");
    assert_eq!(program.number(IDLE).await, 0);
    program.close(server).await;
}

/// One order more is placed and paid, as often as it takes.
async fn served(client: &Client) {
    let receipt = until_done(client, "the-last-one", "somebody").await.0;
    until_paid(client, &receipt).await;
}

/// Buys with a key an order, each until it is paid; returns the orders and how often the answer was 503.
async fn buy_until_over(client: Client, number: usize, over: watch::Receiver<bool>) -> (Vec<Receipt>, usize) {
    let (mut receipts, mut refused) = (vec![], 0);
    while !*over.borrow() {
        let key = format!("buyer-{number:03}-{:05}", receipts.len());
        let (receipt, away) = until_done(&client, &key, &format!("customer-{number}")).await;
        refused += away + until_paid(&client, &receipt).await;
        receipts.push(receipt);
    }
    (receipts, refused)
}

async fn until_done(client: &Client, key: &str, customer: &str) -> (Receipt, usize) {
    let mut refused = 0;
    loop {
        let placed = client.place_keyed(key, customer, &[("card", 1)]).await.unwrap();
        match placed.status {
            200 | 201 => return (placed.receipt(), refused),
            _ => refused += 1,
        }
        told_to_wait(&placed).await;
    }
}

async fn until_paid(client: &Client, receipt: &Receipt) -> usize {
    let mut refused = 0;
    loop {
        let paid = client.pay(receipt).await.unwrap();
        if matches!(paid.status, 200 | 202) {
            return refused;
        }
        refused += 1;
        told_to_wait(&paid).await;
    }
}

/// The answer has to be one that says when to come again.
async fn told_to_wait(answer: &Answer) {
    assert_eq!((answer.status, answer.problem()), (503, "unavailable"), "{}", answer.text);
    let after = answer.headers.get("retry-after").and_then(|after| after.to_str().ok()?.parse::<u64>().ok());
    assert!(after.is_some_and(|seconds| (1..=60).contains(&seconds)), "{after:?}");
    // A fifth of what was asked for: a crowd is impatient.
    tokio::time::sleep(Duration::from_millis(200)).await;
}
