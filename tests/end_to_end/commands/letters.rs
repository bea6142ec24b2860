//! `tessera dlq`, over an order that cannot be issued.

use std::time::Duration;

use serde_json::{Value, json};
use tessera_testbed::Engine;

use super::{card, empty, fields};

/// What makes seven codes impossible to give, and what takes it away.
fn sickness() -> (&'static str, &'static str) {
    match Engine::of_this_run() {
        Engine::Sqlite => (
            "CREATE TRIGGER sick BEFORE INSERT ON span WHEN NEW.upto - NEW.start = 7 \
             BEGIN SELECT raise(ABORT, 'a fault made by a test'); END",
            "DROP TRIGGER sick",
        ),
        Engine::Postgres => (
            "CREATE FUNCTION sick() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             RAISE EXCEPTION 'a fault made by a test' USING ERRCODE = 'check_violation'; END $$; \
             CREATE TRIGGER sick BEFORE INSERT ON span FOR EACH ROW WHEN (NEW.upto - NEW.start = 7) \
             EXECUTE FUNCTION sick()",
            "DROP TRIGGER sick ON span; DROP FUNCTION sick()",
        ),
    }
}

#[tokio::test]
async fn an_order_that_cannot_be_issued_is_a_dead_letter_and_holds_up_nobody() {
    let program = empty().await;
    program.products(&card("card")).await;
    program.stock("card", 10).await;
    let none = json!({"dead_letters": [], "next": null});
    assert_eq!(program.json(&["dlq", "list"]).await, none);
    let server = program.serve().await;
    let client = program.client();
    let sick = client.place("buyer", &[("card", 7)]).await.unwrap().with_status(201).receipt();
    let (fault, mended) = sickness();
    program.operate(fault).await;
    let paid = client.pay_waiting(&sick, 1).await.unwrap().with_status(202);
    assert_eq!(paid.order_status(), "paid");
    let well = client.place("buyer", &[("card", 2)]).await.unwrap().with_status(201).receipt();
    assert_eq!(client.pay_waiting(&well, 5).await.unwrap().with_status(200).codes().len(), 2);

    let listing = async {
        loop {
            let listed = program.json(&["dlq", "list"]).await;
            if listed["dead_letters"] != json!([]) {
                return listed;
            }
        }
    };
    let listed = tokio::time::timeout(Duration::from_secs(20), listing).await.unwrap();
    let letter = &listed["dead_letters"][0];
    let names = [
        "attempts",
        "event",
        "fingerprint",
        "first_failed_at",
        "id",
        "last_failed_at",
        "message_id",
        "order_id",
        "reason",
        "state",
    ];
    assert_eq!((fields(letter), &listed["next"]), (names.to_vec(), &Value::Null));
    assert_eq!((&letter["order_id"], &letter["state"]), (&json!(sick.id), &json!("open")));
    let id = letter["id"].as_str().unwrap();
    let shown = program.json(&["dlq", "show", id]).await;
    let body: Value = serde_json::from_str(shown["body"].as_str().unwrap()).unwrap();
    assert_eq!((&body["v"], &body["order_id"]), (&json!(1), &json!(sick.id)));
    assert_eq!(program.json(&["dlq", "list", "--state", "resolved"]).await, none);
    program.problem(&["dlq", "show", "x"], 2).await;
    program.problem(&["dlq", "list", "--state", "lost"], 2).await;
    let doctor = program.command(&["--json", "doctor"]).await;
    let report = doctor.json();
    let letters = report["checks"].as_array().unwrap().iter().find(|c| c["name"] == "dead letters").unwrap();
    assert!(letters["detail"].as_str().unwrap().contains("dlq list"), "{letters}");
    program.operate(mended).await;
    program.close(server).await;
}
