//! Lines that carry little, and that late.

use std::time::{Duration, Instant};

use tessera_testbed::{Engine, Scenario};

use super::super::codes_of;
use super::{Wired, bought_at_last};

/// Each way.
const DELAY: Duration = Duration::from_millis(200);
/// Each way before the database: a step is a dozen round trips, and three follow each other before a code is there.
const SHORTER: Duration = Duration::from_millis(50);
const BYTES_PER_SECOND: u32 = 10_000;

const ORDERS: usize = 20;

/// As many as make several sets of each step.
const FEW: usize = 3;

const BROKER: Scenario = Scenario {
    number: 17,
    fault: "200 ms and 10 kB/s to the broker",
    until: "all issued over it",
    bound: Duration::from_secs(20),
};

const DATABASE: Scenario = Scenario {
    number: 17,
    fault: "50 ms and 10 kB/s to the database",
    until: "all issued over it",
    bound: Duration::from_secs(35),
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_line_to_the_broker_delays_codes_and_is_not_taken_for_a_dead_one() {
    let shop = Wired::selling(100).await;
    let processes = shop.processes().await;
    let client = shop.program.client();
    shop.broker.slow(DELAY, BYTES_PER_SECOND);
    let slow = Instant::now();
    let receipts = bought_at_last(&client, "slow", ORDERS).await;
    codes_of(&client, &receipts).await;
    BROKER.recovered(Engine::Postgres, slow.elapsed());
    for process in &processes {
        assert_eq!(process.said("the broker is away"), 0, "a slow line was given up");
    }
    shop.broker.restore();
    shop.close(processes, receipts.len()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_line_to_the_database_makes_buyers_wait_and_nothing_twice() {
    let shop = Wired::selling(100).await;
    let processes = shop.processes().await;
    let client = shop.program.client();
    let mut receipts = bought_at_last(&client, "fast", FEW).await;
    codes_of(&client, &receipts).await;
    shop.database.slow(SHORTER, BYTES_PER_SECOND);
    let slow = Instant::now();
    receipts.extend(bought_at_last(&client, "slow", FEW).await);
    codes_of(&client, &receipts).await;
    DATABASE.recovered(Engine::Postgres, slow.elapsed());
    shop.database.restore();
    shop.close(processes, receipts.len()).await;
}
