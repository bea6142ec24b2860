//! Queues that are deleted under their consumer, and messages that the broker gives up.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use lapin::options::{BasicConsumeOptions, BasicNackOptions, QueueDeleteOptions};
use lapin::types::FieldTable;
use serde_json::json;
use tessera_testbed::{Engine, Queues, Scenario};

use super::{FRONT, bought, close, codes_of, process, selling};

/// The sweeper finds within 5 s what nobody was told of.
const DELETED: Scenario = Scenario {
    number: 18,
    fault: "the issuer's queue deleted under it",
    until: "all issued from a queue declared again",
    bound: Duration::from_secs(10),
};

const GIVEN_UP: Scenario = Scenario {
    number: 52,
    fault: "a message handed out and back a thousand times",
    until: "its order is issued all the same",
    bound: Duration::from_secs(10),
};

fn issue(queues: &Queues) -> String {
    format!("{}.issue.0", queues.prefix())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_deleted_under_its_issuer_is_named_declared_again_and_costs_no_order() {
    let program = selling(100).await;
    let front = process(&program, "front", FRONT).await;
    let issuer = process(&program, "issuer", "issuer").await;
    let client = program.client();
    let queues = &program.servers().queues;
    // What is in the queue dies with it: the issuer waits for a lock meanwhile.
    let mut hand = program.servers().database.connect().await;
    sqlx::raw_sql("BEGIN; SELECT id FROM batch FOR UPDATE").execute(&mut hand).await.unwrap();
    let receipts = bought(&client, 50).await;
    let (_connection, channel) = queues.connect().await.unwrap();
    channel.queue_delete(issue(queues).into(), QueueDeleteOptions::default()).await.unwrap();
    let deleted = Instant::now();
    sqlx::raw_sql("ROLLBACK").execute(&mut hand).await.unwrap();
    codes_of(&client, &receipts).await;
    let later = bought(&client, 50).await;
    codes_of(&client, &later).await;
    DELETED.recovered(Engine::Postgres, deleted.elapsed());
    issuer.until_said_often("the issuer lost its queue", 1).await;
    let report = program.json(&["doctor"]).await;
    assert_eq!(report["ok"], json!(true), "the queue is not as wanted: {report}");
    close(program, vec![front, issuer]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_whose_message_was_handed_out_too_often_is_issued_all_the_same() {
    let program = selling(1).await;
    // It declares the queue, and leaves it to the test.
    let declared = process(&program, "first", "issuer").await;
    assert_eq!(declared.terminate().await.code, Some(0));
    let front = process(&program, "front", FRONT).await;
    let client = program.client();
    let receipts = bought(&client, 1).await;
    tokio::select! {
        () = hand_out(&program.servers().queues) => {}
        () = front.until_said_often("the broker gave messages up", 1) => {}
    }
    let given_up = Instant::now();
    let issuer = process(&program, "second", "issuer").await;
    codes_of(&client, &receipts).await;
    GIVEN_UP.recovered(Engine::Postgres, given_up.elapsed());
    let listed = program.json(&["dlq", "list"]).await;
    assert_eq!(listed["dead_letters"], json!([]), "nothing is wrong with the order");
    close(program, vec![front, issuer]).await;
}

/// Takes each message that the queue has and gives it back, for as long as it is let.
async fn hand_out(queues: &Queues) {
    let (_connection, channel) = queues.connect().await.unwrap();
    let options = BasicConsumeOptions::default();
    let consumed = channel.basic_consume(issue(queues).into(), "".into(), options, FieldTable::default());
    let mut deliveries = consumed.await.unwrap();
    while let Some(delivery) = deliveries.next().await {
        delivery.unwrap().nack(BasicNackOptions { requeue: true, multiple: false }).await.unwrap();
    }
}
