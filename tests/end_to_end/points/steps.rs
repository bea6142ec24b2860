//! The steps, each with its points.

use std::collections::BTreeSet;

use tessera_faults::POINTS;
use tessera_testbed::program::answered;

use tessera_api::WebhookSecret;

use super::{QUANTITY, SECRET, Shop, turns};

/// The steps that the tests below go through.
const TOLD: &[&str] = &[
    "place",
    "pay",
    "pay-late",
    "cancel",
    "expire",
    "refund",
    "accept",
    "cancel-for",
    "paid-back",
    "publish",
    "issue",
    "draw",
    "call-off",
    "replace",
    "void",
    "import-begin",
    "import-part",
    "import-open",
];

#[test]
fn every_step_with_a_point_is_told_here() {
    let steps: BTreeSet<&str> = POINTS.iter().map(|(who, _)| *who).collect();
    assert_eq!(steps, TOLD.iter().copied().collect());
}

#[test]
fn the_program_that_shops_run_has_no_fault_points() {
    let program = std::fs::read(tessera_testbed::program::binary()).unwrap();
    let text = String::from_utf8_lossy(&program);
    for variable in ["TEST_FAULT", "TEST_BREAK", "TEST_SWEEPER"] {
        assert!(!text.contains(variable), "{variable}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn place_interrupted_anywhere_makes_one_order_for_a_key() {
    let mut shop = Shop::open().await;
    for turn in turns("place") {
        let server = shop.armed(&turn).await;
        let (server, receipt) = tokio::join!(shop.bring_back(server, &turn), shop.placed(&turn, "card"));
        shop.proven(server, &[receipt], "awaiting_payment").await;
    }
    shop.close(4, "killed, frozen or failing at each point of place").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pay_interrupted_anywhere_charges_once_and_issues() {
    paid_once("pay", 4, "killed, frozen or failing at each point of pay").await;
}

/// Case P22: a crash between the stock and the message lost the order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publishing_interrupted_anywhere_loses_no_order() {
    paid_once("publish", 5, "killed, frozen or failing at each point of publishing").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn issue_interrupted_anywhere_gives_each_order_its_codes_once() {
    paid_once("issue", 2, "killed, frozen or failing at each point of issue").await;
}

async fn paid_once(step: &str, number: u16, fault: &'static str) {
    let mut shop = Shop::open().await;
    for turn in turns(step) {
        let server = shop.armed(&turn).await;
        let bought = async {
            let receipt = shop.placed(&turn, "card").await;
            let client = shop.client();
            for _ in 0..2 {
                let paid = answered(|| client.pay(&receipt)).await;
                assert!(matches!(paid.status, 200 | 202), "{}", paid.text);
            }
            receipt
        };
        let (server, receipt) = tokio::join!(shop.bring_back(server, &turn), bought);
        shop.proven(server, &[receipt], "issued").await;
        assert_eq!(shop.settled().await, shop.orders * QUANTITY * 1_990, "charged once each");
    }
    shop.close(number, fault).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_payment_interrupted_anywhere_is_taken_once() {
    let mut shop = Shop::open().await;
    for turn in turns("pay-late") {
        let server = shop.armed(&turn).await;
        let bought = async {
            let receipt = shop.placed(&turn, "brief").await;
            shop.expired(&receipt).await;
            shop.notified(&receipt).await;
            assert_eq!(shop.notified(&receipt).await.body["outcome"], "duplicate");
            receipt
        };
        let (server, receipt) = tokio::join!(shop.bring_back(server, &turn), bought);
        shop.proven(server, &[receipt], "issued").await;
        assert_eq!(shop.settled().await, shop.orders * QUANTITY * 1_990, "taken once each");
    }
    shop.close(4, "killed, frozen or failing at each point of a late payment").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_interrupted_anywhere_gives_the_claim_back_once() {
    let mut shop = Shop::open().await;
    for turn in turns("cancel") {
        let server = shop.armed(&turn).await;
        let cancelled = async {
            let receipt = shop.placed(&turn, "card").await;
            let client = shop.client();
            assert_eq!(answered(|| client.cancel(&receipt)).await.order_status(), "cancelled");
            receipt
        };
        let (server, receipt) = tokio::join!(shop.bring_back(server, &turn), cancelled);
        shop.proven(server, &[receipt], "cancelled").await;
    }
    shop.close(4, "killed, frozen or failing at each point of cancel").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expiry_interrupted_anywhere_gives_the_claim_back_once() {
    let mut shop = Shop::open().await;
    for turn in turns("expire") {
        let server = shop.armed(&turn).await;
        let expired = async {
            let receipt = shop.placed(&turn, "brief").await;
            shop.expired(&receipt).await;
            receipt
        };
        let (server, receipt) = tokio::join!(shop.bring_back(server, &turn), expired);
        shop.proven(server, &[receipt], "expired").await;
    }
    shop.close(4, "killed, frozen or failing at each point of expire").await;
}

/// Operators repeat a command that was interrupted; what was done by it is told as done before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replace_and_void_interrupted_anywhere_are_done_once() {
    let shop = Shop::open().await;
    let server = shop.program.serve().await;
    let client = shop.client();
    let receipt = client.place("ann", &[("card", 20)]).await.unwrap().with_status(201).receipt();
    assert_eq!(client.pay_waiting(&receipt, 30).await.unwrap().with_status(200).codes().len(), 20);
    let batch = shop.program.json(&["codes", "batches", "--sku", "card"]).await["batches"][0]["id"].clone();
    let (mut unissued, mut position) = (180, 0);
    for step in ["replace", "void"] {
        for turn in turns(step) {
            position += 1;
            let (place, batch) = (position.to_string(), batch.as_str().unwrap());
            let void = ["codes", "void", "--batch", batch, "--position", &(position + 100).to_string()]
                .map(str::to_owned);
            let replace = ["orders", "replace", &receipt.id, "--position", &place].map(str::to_owned);
            let mut arguments = if step == "void" { void.to_vec() } else { replace.to_vec() };
            arguments.extend(["--reason", "bad"].map(str::to_owned));
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let line = shop.program.line_faulty(&[("TEST_FAULT", &turn.fault)], &arguments);
            let command = shop.program.start_line(line);
            command.until_said_often("fault point", 1).await;
            if turn.freezes {
                command.until_frozen().await;
                command.thaw();
            }
            command.ended().await;
            let again = shop.program.command(&arguments).await;
            assert!(matches!(again.code, Some(0 | 1)), "{}: {}", turn.fault, again.stderr);
            unissued -= 1;
            assert_eq!(shop.unissued("card").await, unissued, "{}", turn.fault);
            shop.program.json(&["reconcile"]).await;
        }
    }
    shop.program.close(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn import_interrupted_anywhere_is_whole_when_it_is_repeated() {
    let shop = Shop::open().await;
    let mut wanted = 200;
    for step in ["import-begin", "import-part", "import-open"] {
        for turn in turns(step) {
            let codes = tessera_testbed::program::codes(&turn.fault.replace('=', "-"), 5);
            let file = shop.program.file("more.txt", codes.join("\n"));
            let arguments = ["codes", "import", &file, "--sku", "card"];
            let line = shop.program.line_faulty(&[("TEST_FAULT", &turn.fault)], &arguments);
            let import = shop.program.start_line(line);
            import.until_said_often("fault point", 1).await;
            if turn.freezes {
                import.until_frozen().await;
                import.thaw();
            }
            import.ended().await;
            // The lease of one that was killed ends after seconds: `importing` waits for one, this test need not.
            shop.program.operate("DELETE FROM lease").await;
            // Whatever was left of it, the repetition brings in what is missing and no code twice.
            let again = shop.program.json(&arguments).await;
            assert!(again["malformed"].as_array().is_some_and(Vec::is_empty), "{again}");
            wanted += 5;
            assert_eq!(shop.unissued("card").await, wanted, "{}: {again}", turn.fault);
            shop.program.json(&["reconcile"]).await;
        }
    }
    shop.program.close_stopped().await;
}

/// Each command is killed and made to fail at each of its points, and run again: it is done once, whatever the second says.
async fn commanded_once(step: &str, words: [&str; 2], paid: i64, audited: &str, statuses: &[&str]) {
    let shop = Shop::open().await;
    let server = shop.program.serve().await;
    let mut done = 0;
    for turn in turns(step).into_iter().filter(|turn| !turn.freezes) {
        let (client, customer) = (shop.client(), format!("buyer-{done}"));
        let order = client.place(&customer, &[("card", QUANTITY)]).await.unwrap().with_status(201).receipt();
        if paid > 0 {
            let (secret, notice) = (WebhookSecret::parse(SECRET).unwrap(), settled(&order.id, paid));
            assert_eq!(client.notify(&secret, &notice).await.unwrap().status, 200);
        }
        let subject = match words[0] {
            "payments" => {
                let listed = shop.program.json(&["payments", "list", "--limit", "1"]).await;
                listed["payments"][0]["id"].as_str().unwrap().to_owned()
            }
            _ => order.id.clone(),
        };
        let line = [words[0], words[1], &subject, "--reason", "a test"];
        let more: &[&str] = if words[0] == "payments" { &["--reference", &order.id] } else { &[] };
        let line = [&line[..], more].concat();
        let faulty = shop.program.line_faulty(&[("TEST_FAULT", &turn.fault)], &line);
        let ended = shop.program.start_line(faulty).ended().await;
        assert!(ended.stderr.contains("fault point"), "{}", ended.stderr);
        shop.program.command(&line).await;
        done += 1;
        let audited = format!("SELECT count(*) FROM audit WHERE action = '{audited}'");
        assert_eq!(shop.program.number(&audited).await, done, "{}", turn.fault);
        let shown = shop.program.json(&["orders", "show", &order.id]).await;
        let status = shown["status"].as_str().unwrap();
        assert!(statuses.contains(&status), "{status} after {}", turn.fault);
        shop.program.json(&["reconcile"]).await;
    }
    assert_eq!(server.terminate().await.code, Some(0));
    shop.program.close_stopped().await;
}

fn settled(order: &str, minor: i64) -> serde_json::Value {
    serde_json::json!({"type": "payment.settled", "reference": order, "order_id": order,
        "amount": {"minor": minor, "currency": "CNY"}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refund_interrupted_anywhere_is_ordered_once() {
    commanded_once("refund", ["orders", "refund"], 1_990 * QUANTITY, "order.refund", &["refund_due"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accept_interrupted_anywhere_is_done_once() {
    commanded_once("accept", ["orders", "accept"], 1, "order.accept", &["paid", "issued"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_for_a_buyer_interrupted_anywhere_is_done_once() {
    commanded_once("cancel-for", ["orders", "cancel"], 0, "order.cancel", &["cancelled"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn confirmed_refund_interrupted_anywhere_moves_money_once() {
    let over = 1_990 * QUANTITY + 1;
    commanded_once("paid-back", ["payments", "refunded"], over, "payment.refunded", &["paid", "issued"])
        .await;
}

/// A raffle of two shares whose only round one order fills.
async fn filled_round(shop: &Shop, sku: &str) -> String {
    let raffle = serde_json::json!({"sku": sku, "name": sku, "kind": "raffle",
        "price": {"minor": 1_990, "currency": "CNY"}, "raffle": {"shares": QUANTITY, "draw_after_seconds": 0}});
    shop.program.products(&raffle).await;
    let client = shop.client();
    let (customer, lines) = (format!("of-{sku}"), [(sku, QUANTITY)]);
    let receipt = answered(|| client.place_keyed(sku, &customer, &lines)).await.receipt();
    answered(|| client.pay_waiting(&receipt, 5)).await;
    let listed = shop.program.json(&["rounds", "list", "--sku", sku]).await;
    let rounds = listed["rounds"].as_array().unwrap();
    rounds.iter().find(|round| round["number"] == 1).unwrap()["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draw_interrupted_anywhere_has_one_winner() {
    let shop = Shop::open().await;
    for (n, turn) in turns("draw").into_iter().enumerate() {
        let server = shop.armed(&turn).await;
        let round = filled_round(&shop, &format!("phone-of-{n}")).await;
        let server = shop.bring_back(server, &turn).await;
        let client = shop.client();
        let path = format!("/v1/rounds/{round}/proof");
        while answered(|| client.look(&path)).await.status == 409 {
            // A draw sends no signal.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        let first = answered(|| client.look(&path)).await.with_status(200).body;
        assert_eq!(answered(|| client.look(&path)).await.body, first);
        shop.program.json(&["rounds", "verify", &round]).await;
        shop.program.json(&["reconcile"]).await;
        assert_eq!(server.terminate().await.code, Some(0));
    }
    shop.program.close_stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calling_a_round_off_interrupted_anywhere_is_done_once() {
    let shop = Shop::open().await;
    let server = shop.program.serve().await;
    let mut done = 0;
    for (n, turn) in turns("call-off").into_iter().filter(|turn| !turn.freezes).enumerate() {
        let sku = format!("phone-{n}");
        let raffle = serde_json::json!({"sku": sku, "name": sku, "kind": "raffle",
            "price": {"minor": 1_990, "currency": "CNY"}, "raffle": {"shares": QUANTITY + 1}});
        shop.program.products(&raffle).await;
        let client = shop.client();
        let receipt = client.place("ann", &[(&sku, QUANTITY)]).await.unwrap().with_status(201).receipt();
        assert_eq!(client.pay_waiting(&receipt, 30).await.unwrap().status, 200);
        let listed = shop.program.json(&["rounds", "list", "--sku", &sku]).await;
        let round = listed["rounds"][0]["id"].as_str().unwrap().to_owned();
        let arguments = ["rounds", "cancel", &round, "--reason", "no phone"];
        let command =
            shop.program.start_line(shop.program.line_faulty(&[("TEST_FAULT", &turn.fault)], &arguments));
        command.until_said_often("fault point", 1).await;
        command.ended().await;
        let again = shop.program.command(&arguments).await;
        assert!(matches!(again.code, Some(0 | 1)), "{}: {}", turn.fault, again.stderr);
        done += 1;
        let audited = "SELECT count(*) FROM audit WHERE action = 'round.cancel'";
        assert_eq!(shop.program.number(audited).await, done, "{}", turn.fault);
        assert_eq!(client.get(&receipt).await.unwrap().order_status(), "refund_due");
        shop.program.json(&["reconcile"]).await;
    }
    shop.program.close(server).await;
}
