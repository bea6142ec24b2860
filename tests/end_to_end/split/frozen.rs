//! An issuer that stands still in the middle of its transaction, and wakes up again.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use sqlx::Connection;
use tessera_testbed::program::{Client, Receipt};
use tessera_testbed::{Engine, Scenario};

use super::{FRONT, bought, close, codes_of, process, selling};

const FROZEN: Scenario = Scenario {
    number: 10,
    fault: "the issuer frozen within a set, a standby waiting",
    until: "all issued",
    bound: Duration::from_secs(20),
};

/// The issuer waits for a lock that the test holds.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE datname = current_database() AND wait_event_type = 'Lock'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_issuer_holds_up_buyers_for_seconds_and_wakes_up_to_nothing() {
    let program = selling(50).await;
    let front = process(&program, "front", FRONT).await;
    let active = process(&program, "first", "issuer").await;
    let standby = process(&program, "second", "issuer").await;
    let client = program.client();

    // It stops between two statements of its transaction: the test's lock makes it wait there.
    let mut hand = program.servers().database.connect().await;
    let mut lock = hand.begin().await.unwrap();
    sqlx::query("SELECT id FROM batch FOR UPDATE").execute(&mut *lock).await.unwrap();
    let mut receipts = bought(&client, 5).await;
    while program.number(WAITING).await == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    active.freeze();
    let frozen = Instant::now();
    lock.rollback().await.unwrap();

    receipts.push(buys_again(&client).await);
    assert!(frozen.elapsed() < Duration::from_secs(5), "orders after {:?}", frozen.elapsed());
    codes_of(&client, &receipts).await;
    FROZEN.recovered(Engine::Postgres, frozen.elapsed());

    active.thaw();
    receipts.extend(bought(&client, 10).await);
    let codes = codes_of(&client, &receipts).await;
    assert_eq!(codes.iter().collect::<HashSet<_>>().len(), receipts.len(), "a code went out twice");
    close(program, vec![front, active, standby]).await;
}

/// Places and pays, as often as it takes.
async fn buys_again(client: &Client) -> Receipt {
    let receipt = loop {
        let placed = client.place("somebody-else", &[("card", 1)]).await.unwrap();
        if placed.status == 201 {
            break placed.receipt();
        }
        assert_eq!(placed.problem(), "unavailable");
    };
    loop {
        let paid = client.pay(&receipt).await.unwrap();
        if matches!(paid.status, 200 | 202) {
            return receipt;
        }
        assert_eq!(paid.problem(), "unavailable");
    }
}
