//! What the broker gives up delivering.

use std::time::Duration;

use serde_json::{Value, json};

use super::{FRONT, close, process, selling};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_broker_gave_up_is_listed_among_the_dead_letters() {
    let program = selling(1).await;
    let issuer = process(&program, "issuer", "issuer").await;
    let front = process(&program, "front", FRONT).await;
    program.servers().queues.give_up("order.paid", r#"{"v":1,"event_id":"x"}"#).await;
    let listing = async {
        loop {
            let listed = program.json(&["dlq", "list"]).await;
            if listed["dead_letters"] != json!([]) {
                return listed;
            }
        }
    };
    let listed: Value = tokio::time::timeout(Duration::from_secs(20), listing).await.unwrap();
    let letter = &listed["dead_letters"][0];
    assert_eq!((&letter["event"], &letter["state"]), (&json!("order.paid"), &json!("open")));
    assert!(letter["reason"].as_str().unwrap().contains("the broker gave it up"), "{letter}");
    close(program, vec![front, issuer]).await;
}
