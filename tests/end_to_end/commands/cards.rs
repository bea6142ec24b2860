//! `tessera codes batches|ledger|void`, `tessera orders replace|reissue-link|list --code`.

use serde_json::{Value, json};
use tessera_testbed::Engine;
use tessera_testbed::program::Program;

use super::{card, column, empty, fields};

const UNKNOWN: &str = "01a22cc3-604b-726c-85a6-a678e1db2110";

/// Runs a command that reads this from its standard input and has to succeed, under `--json`.
async fn with_input(program: &Program, arguments: &[&str], input: &str) -> Value {
    let file = program.file("input.txt", input);
    let mut all = vec!["--json"];
    all.extend(arguments);
    let mut line = program.line(&all);
    line.stdin(std::fs::File::open(file).unwrap());
    let ended = program.start_line(line).ended().await;
    assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    ended.json()
}

#[tokio::test]
async fn codes_that_do_not_work_are_found_replaced_and_voided_by_command() {
    let program = empty().await;
    program.products(&card("card")).await;
    let codes = program.stock("card", 9).await;
    let server = program.serve().await;
    let client = program.client();
    let receipt = client.place("ann", &[("card", 2)]).await.unwrap().with_status(201).receipt();
    assert_eq!(client.pay_waiting(&receipt, 5).await.unwrap().with_status(200).codes().len(), 2);
    let id = receipt.id.as_str();

    for found in [
        program.json(&["orders", "list", "--code", &codes[1]]).await,
        with_input(&program, &["orders", "list", "--code", "-"], &format!("{}\n", codes[1])).await,
    ] {
        assert_eq!(column(&found["orders"], "id"), [id]);
    }
    assert_eq!(program.json(&["orders", "list", "--code", &codes[5]]).await["orders"], json!([]));
    let replace = ["orders", "replace", id, "--position", "2", "--reason", "it is used"];
    let replaced = program.json(&replace).await;
    assert_eq!(replaced, json!({ "order_id": id, "line": 1, "positions": [3] }));
    program.problem(&replace, 1).await;
    let seen = client.get(&receipt).await.unwrap().with_status(200).body;
    let states = column(&seen["lines"][0]["codes"], "state");
    assert_eq!(states, ["issued", "replaced", "issued"], "a running server shows it at once");

    let batches = program.json(&["codes", "batches", "--sku", "card"]).await;
    let batch = column(&batches["batches"], "id")[0];
    let list = program.file("bad.txt", format!("{}\n\n{}\n", codes[0], codes[8]));
    let voided = program.json(&["codes", "void", "--codes", &list, "--reason", "bad lot"]).await;
    let voided = &voided["voids"][0];
    assert_eq!(fields(voided), ["batch", "sold", "voided", "voided_sold", "waiting"]);
    assert_eq!((&voided["voided"], &voided["voided_sold"]), (&json!(1), &json!(1)));
    program.json(&["codes", "void", "--batch", batch, "--position", "4", "--reason", "bad"]).await;
    let rest = program.json(&["codes", "void", "--batch", batch, "--reason", "taken back"]).await;
    assert_eq!(rest["voids"][0]["voided"], 4);
    program.problem(&["codes", "void", "--batch", batch, "--reason", "taken back"], 1).await;
    let stock = program.json(&["codes", "stock"]).await["stock"][0].clone();
    assert_eq!((&stock["unissued"], &stock["issued"], &stock["voided"]), (&json!(0), &json!(1), &json!(8)));

    let ledger = program.json(&["codes", "ledger", "--batch", batch]).await;
    let kinds = column(&ledger["ledger"], "kind");
    assert_eq!(kinds.iter().filter(|kind| **kind == "void").count(), 5, "{kinds:?}");
    assert_eq!((kinds.last(), ledger["next"].is_null()), (Some(&"import"), true));
    let shown = program.command(&["orders", "show", id]).await.stdout;
    for told in ["(replaced)", "(voided)", "order.replace", "replacement", "money settled", "bad lot"] {
        assert!(shown.contains(told), "{told} in {shown}");
    }
    program.close(server).await;
}

#[tokio::test]
async fn a_reissued_link_is_the_only_one_that_is_good() {
    let program = empty().await;
    program.products(&card("card")).await;
    program.stock("card", 1).await;
    let server = program.serve().await;
    let client = program.client();
    let mut receipt = client.place("ann", &[("card", 1)]).await.unwrap().with_status(201).receipt();
    let reissued = program.json(&["orders", "reissue-link", &receipt.id, "--reason", "it was posted"]).await;
    assert_eq!(client.get(&receipt).await.unwrap().status, 404);
    receipt.token = reissued["token"].as_str().unwrap().to_owned();
    assert_eq!(client.get(&receipt).await.unwrap().status, 200);
    assert_eq!(reissued["links"]["self"], format!("/v1/orders/{}", receipt.id));
    assert_eq!(client.cancel(&receipt).await.unwrap().order_status(), "cancelled");
    program.close(server).await;
}

#[tokio::test]
async fn what_is_asked_for_wrongly_changes_nothing() {
    let program = empty().await;
    program.products(&card("card")).await;
    let strange = program.file("strange.txt", "AAAA\n");
    for (line, code) in [
        (&["codes", "void", "--reason", "x"][..], 2),
        (&["codes", "void", "--batch", UNKNOWN], 2),
        (&["codes", "void", "--batch", "x", "--reason", "x"], 2),
        (&["codes", "void", "--batch", UNKNOWN, "--reason", "x"], 1),
        (&["codes", "void", "--codes", &strange, "--reason", "x"], 1),
        (&["codes", "batches", "--sku", "none"], 1),
        (&["codes", "ledger", "--cursor", "x"], 2),
        (&["codes", "ledger", "--order", "x"], 2),
        (&["orders", "replace", UNKNOWN, "--position", "1", "--reason", "x"], 1),
        (&["orders", "replace", UNKNOWN, "--reason", "x"], 2),
        (&["orders", "replace", UNKNOWN, "--position", "1"], 2),
        (&["orders", "reissue-link", UNKNOWN], 1),
        (&["orders", "list", "--from", "today"], 2),
    ] {
        program.problem(line, code).await;
    }
    program.close_stopped().await;
}

#[tokio::test]
async fn doctor_warns_of_limits_that_nobody_vouches_for() {
    let program = empty().await;
    let check = async |arguments: Option<(&str, &str)>| -> Value {
        let line = ["--json", "doctor"];
        let ended = match arguments {
            Some(setting) => program.command_with(setting, &line).await,
            None => program.command(&line).await,
        };
        let report = ended.json();
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == "customers").unwrap().clone()
    };
    program.products(&card("card")).await;
    assert!(check(None).await["remedy"].is_null());
    let mut place = card("place");
    place["per_customer_limit"] = json!(1);
    program.products(&place).await;
    let warned = check(None).await;
    assert!(warned["detail"].as_str().unwrap().contains("place is limited"), "{warned}");
    assert!(warned["remedy"].as_str().unwrap().contains("customers.proof"), "{warned}");
    assert!(check(Some(("CUSTOMERS__PROOF", "key"))).await["remedy"].is_null());
    program.close_stopped().await;
}

#[tokio::test]
async fn a_serving_shop_closes_batches_before_their_codes_end() {
    let program = empty().await;
    program.products(&card("card")).await;
    program.stock("card", 3).await;
    // Long past, whatever the clock: as micros on one engine, as an instant on the other.
    let past = if Engine::of_this_run() == Engine::Sqlite { "1000000" } else { "'2001-01-01'" };
    program.operate(&format!("UPDATE batch SET expires_at = {past}")).await;
    let server = program.serve().await;
    server.until_said_often("closed batches", 1).await;
    let batch = program.json(&["codes", "batches"]).await["batches"][0].clone();
    assert_eq!((&batch["state"], &batch["voided"]), (&json!("closed"), &json!(3)));
    let stock = program.json(&["codes", "stock"]).await["stock"][0].clone();
    assert_eq!((&stock["unissued"], &stock["voided"]), (&json!(0), &json!(3)));
    let ledger = program.json(&["codes", "ledger"]).await;
    assert_eq!(ledger["ledger"][0]["actor"], "housekeeper");
    program.close(server).await;
}
