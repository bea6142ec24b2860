//! Connections that are reset again and again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tessera_testbed::program::{Client, Process, Receipt};
use tessera_testbed::proxy::Way;
use tessera_testbed::{Engine, Proxy, Scenario};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::super::codes_of;
use super::{Wired, bought_at_last};

/// How often everything is reset, and how many times.
const EVERY: Duration = Duration::from_millis(100);
const TIMES: usize = 100;

/// How many buy at a time during the storm.
const TOGETHER: usize = 5;

/// An attempt to connect begins every 4 s at the latest, the issuer asks again after 5 s at most, and the sweeper finds
/// within 5 s what nobody was told of.
const BROKER: Scenario = Scenario {
    number: 16,
    fault: "connections to the broker reset ten times a second for 10 s",
    until: "all issued after it",
    bound: Duration::from_secs(18),
};

const DATABASE: Scenario = Scenario {
    number: 16,
    fault: "connections to the database reset ten times a second for 10 s",
    until: "all issued after it",
    bound: Duration::from_secs(15),
};

/// After how many bytes a connection breaks, in the handshake and in what comes after it, within a frame more often
/// than not.
const BROKEN_AFTER: [u64; 4] = [1, 400, 1_700, 4_100];

/// How long another connection is waited for.
const RETRIED_WITHIN: Duration = Duration::from_secs(1);

const BROKEN: Scenario = Scenario {
    number: 5,
    fault: "connections to the broker broken within what they carry",
    until: "all issued after it",
    bound: Duration::from_secs(18),
};

/// Connections that a process may have more than before: a session closes while the next is built.
const MORE_MAX: usize = 6;

/// A transaction that nobody goes on with; the server ends such a one after 2 s.
const IDLE: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
    AND state LIKE 'idle in transaction%' AND state_change < clock_timestamp() - interval '3 seconds'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_resets_before_the_broker_holds_up_no_payment_and_leaves_nothing_open() {
    let shop = few_connections().await;
    let processes = shop.processes().await;
    let client = shop.program.client();
    let held = before(&client, &processes).await;
    let receipts = bought_in(&client, storm(&shop.broker)).await;
    let over = Instant::now();
    codes_of(&client, &receipts).await;
    BROKER.recovered(Engine::Postgres, over.elapsed());
    until_back_to(&processes, &held).await;
    shop.close(processes, receipts.len() + TOGETHER).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_resets_before_the_database_makes_no_order_twice_and_leaves_nothing_open() {
    let shop = few_connections().await;
    let processes = shop.processes().await;
    let client = shop.program.client();
    let held = before(&client, &processes).await;
    let receipts = bought_in(&client, storm(&shop.database)).await;
    let over = Instant::now();
    codes_of(&client, &receipts).await;
    DATABASE.recovered(Engine::Postgres, over.elapsed());
    assert_eq!(shop.program.number(IDLE).await, 0);
    until_back_to(&processes, &held).await;
    shop.close(processes, receipts.len() + TOGETHER).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_to_the_broker_that_break_within_a_frame_lose_no_order_and_double_none() {
    let shop = Wired::selling(200).await;
    let processes = shop.processes().await;
    let client = shop.program.client();
    let mut receipts = vec![];
    for way in [Way::ToClient, Way::ToServer] {
        for bytes in BROKEN_AFTER {
            shop.broker.cut_after(bytes, way);
            receipts.extend(bought_at_last(&client, &format!("{way:?}-{bytes}"), TOGETHER).await);
            // One that carries little lives on until the next fault.
            let _broke = timeout(RETRIED_WITHIN, shop.broker.made(1)).await;
        }
    }
    shop.broker.restore();
    let over = Instant::now();
    codes_of(&client, &receipts).await;
    BROKEN.recovered(Engine::Postgres, over.elapsed());
    shop.close(processes, receipts.len()).await;
}

/// So few connections to the database that all are open from the start: only what leaks makes more of them.
async fn few_connections() -> Wired {
    let mut shop = Wired::selling(3_000).await;
    shop.program = shop.program.with("DATABASE__CONNECTIONS", "4");
    shop
}

async fn storm(proxy: &Proxy) {
    let mut beat = interval(EVERY);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for _ in 0..TIMES {
        beat.tick().await;
        proxy.abort().await;
    }
}

/// What a few issued orders leave each process holding.
async fn before(client: &Client, processes: &[Process]) -> Vec<(usize, usize)> {
    let receipts = bought_at_last(client, "before", TOGETHER).await;
    codes_of(client, &receipts).await;
    processes.iter().map(Process::holds).collect()
}

/// Buys, a few at a time, until the storm is over.
async fn bought_in(client: &Client, storm: impl Future<Output = ()>) -> Vec<Receipt> {
    let over = AtomicBool::new(false);
    let buying = async {
        let mut receipts = vec![];
        while !over.load(Ordering::Relaxed) {
            let name = format!("storm-{}", receipts.len());
            receipts.extend(bought_at_last(client, &name, TOGETHER).await);
        }
        receipts
    };
    let storm = async {
        storm.await;
        over.store(true, Ordering::Relaxed);
    };
    tokio::join!(buying, storm).0
}

/// Waits until no process holds more files, sockets or threads than it did; the test's own time bounds it.
async fn until_back_to(processes: &[Process], held: &[(usize, usize)]) {
    for (process, (files, threads)) in processes.iter().zip(held) {
        let back = async {
            loop {
                let (now_files, now_threads) = process.holds();
                if now_files <= files + MORE_MAX && now_threads <= threads + MORE_MAX {
                    return;
                }
                sleep(EVERY).await;
            }
        };
        let back = timeout(Duration::from_secs(10), back).await;
        assert!(back.is_ok(), "{files} files and {threads} threads before, {:?} now", process.holds());
    }
}
