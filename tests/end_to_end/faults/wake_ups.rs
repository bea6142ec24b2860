//! What happened without a wake-up is heard all the same.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_testbed::program::Program;
use tessera_testbed::{Engine, Scenario};

use super::{offering, until_number};

const ISSUED: &str = "SELECT count(*) FROM orders WHERE status = 'issued'";

/// How late a change may be heard: the period in which a process looks for it, and a margin for a busy machine.
fn heard_within() -> Duration {
    let period = match Engine::of_this_run() {
        Engine::Sqlite => Duration::from_millis(200),
        Engine::Postgres => Duration::from_millis(500),
    };
    period + Duration::from_secs(1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_by_another_process_is_heard_without_a_wake_up() {
    let scenario = Scenario {
        number: 45,
        fault: "another process changes an order, without a wake-up",
        until: "its stream and its poll tell",
        bound: heard_within(),
    };
    let program = offering(Program::default(), 1_990, &json!({"backorders": true})).await;
    let server = program.serve().await;
    let client = program.client();
    let receipt = client.place("buyer", &[("card", 1)]).await.unwrap().with_status(201).receipt();
    let mut events = client.events(&receipt, None).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().id, "1");
    let poll = tokio::spawn({
        let (client, receipt) = (program.client(), receipt.clone());
        async move {
            let seen = [("if-none-match", "W/\"1\""), ("prefer", "wait=30")];
            client.get_part(&receipt, "", &seen).await
        }
    });
    program.operate("UPDATE orders SET version = version + 1").await;
    let changed = Instant::now();
    assert_eq!(events.next().await.unwrap().unwrap().id, "2");
    assert_eq!(poll.await.unwrap().unwrap().with_status(200).body["version"], 2);
    scenario.recovered(Engine::of_this_run(), changed.elapsed());
    program.close(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_that_another_process_brings_is_heard_by_who_waits_for_it() {
    let program = offering(Program::default(), 0, &json!({"backorders": true})).await;
    let server = program.serve().await;
    let client = program.client();
    let receipt = client.place("buyer", &[("card", 1)]).await.unwrap().with_status(201).receipt();
    until_number(&program, "SELECT count(*) FROM orders WHERE status = 'backordered'", 1).await;
    let mut events = client.events(&receipt, None).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().order["status"], "backordered");
    program.stock("card", 1).await;
    let issued = async {
        until_number(&program, ISSUED, 1).await;
        Instant::now()
    };
    let heard = async {
        let event = events.next().await.unwrap().unwrap();
        (event, Instant::now())
    };
    let (issued, (event, heard)) = tokio::join!(issued, heard);
    assert_eq!(event.order["status"], "issued");
    let late = heard.saturating_duration_since(issued);
    assert!(late < heard_within(), "heard {late:?} after it was issued");
    program.close(server).await;
}
