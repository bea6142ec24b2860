//! What operators do about money, by command, beside a running server.

use serde_json::{Value, json};
use tessera_api::WebhookSecret;
use tessera_testbed::program::{Client, Program, Receipt};

use super::{card, column, fields};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

struct Till {
    program: Program,
    client: Client,
    secret: WebhookSecret,
}

impl Till {
    async fn open(count: usize) -> Self {
        let program = Program::default().with("PAYMENTS__HMAC__SECRET", SECRET);
        program.json(&["migrate"]).await;
        program.products(&card("card")).await;
        program.stock("card", count).await;
        let client = program.client();
        Self { program, client, secret: WebhookSecret::parse(SECRET).unwrap() }
    }

    async fn place(&self, customer: &str) -> Receipt {
        self.client.place(customer, &[("card", 1)]).await.unwrap().with_status(201).receipt()
    }

    async fn told(&self, reference: &str, order: &str, minor: i64) {
        let notice = json!({"type": "payment.settled", "reference": reference, "order_id": order,
            "amount": {"minor": minor, "currency": "CNY"}, "paid_at": "2026-11-30T12:00:00Z"});
        assert_eq!(self.client.notify(&self.secret, &notice).await.unwrap().status, 200);
    }

    async fn deed(&self, deed: &str, order: &Receipt) -> Value {
        self.program.json(&["orders", deed, &order.id, "--reason", "the buyer asked"]).await
    }

    async fn payments(&self, state: &str) -> Value {
        self.program.json(&["payments", "list", "--state", state]).await["payments"].clone()
    }
}

#[tokio::test]
async fn an_accepted_order_gets_its_codes_from_the_running_server() {
    let till = Till::open(1).await;
    let server = till.program.serve().await;
    let order = till.place("ann").await;
    till.told("T-1", &order.id, 1_989).await;
    assert_eq!(till.deed("accept", &order).await["status"], "paid");
    let shown = till.client.get_waiting(&order, 20).await.unwrap().with_status(200);
    assert_eq!((shown.order_status(), shown.codes().len()), ("issued", 1));
    let again = ["orders", "accept", &order.id, "--reason", "again"];
    let problem = till.program.problem(&again, 1).await;
    assert_eq!(problem["type"], "urn:tessera:problem:order-not-acceptable");
    till.program.close(server).await;
}

#[tokio::test]
async fn a_refund_is_ordered_confirmed_once_and_listed_all_the_way() {
    let till = Till::open(2).await;
    let server = till.program.serve().await;
    let order = till.place("ann").await;
    till.told("T-1", &order.id, 2_000).await;
    till.told("T-2", "nobody's", 70).await;
    till.client.get_waiting(&order, 20).await.unwrap().with_status(200).codes();
    assert_eq!(till.deed("refund", &order).await["status"], "refund_due");
    assert_eq!(till.deed("refund", &order).await["status"], "refund_due", "again is no failure");

    let due = till.payments("refund_due").await;
    assert_eq!(due.as_array().map(Vec::len), Some(1));
    let wanted = [
        "amount",
        "id",
        "order_id",
        "order_reference",
        "paid_at",
        "portions",
        "provider",
        "reason",
        "received_at",
        "reference",
    ];
    assert_eq!(fields(&due[0]), wanted);
    assert_eq!(due[0]["portions"], json!([{"state": "refund_due", "minor": 2_000}]));
    assert_eq!((&due[0]["order_id"], &due[0]["reason"]), (&json!(order.id), &json!("over")));
    let id = due[0]["id"].as_str().unwrap();
    let confirm = async |more: &[&str]| {
        till.program.json(&[&["payments", "refunded", id], more].concat()).await["portions"].clone()
    };
    let part = json!([{"state": "refund_due", "minor": 1_500}, {"state": "refunded", "minor": 500}]);
    for _ in 0..2 {
        assert_eq!(confirm(&["--reference", "B-1", "--minor", "500"]).await, part);
    }
    for (more, slug) in [
        (&["--reference", "B-1", "--minor", "501"][..], "reference-reused"),
        (&["--reference", "B-2", "--minor", "1501"], "not-refund-due"),
    ] {
        let problem = till.program.problem(&[&["payments", "refunded", id], more].concat(), 1).await;
        assert_eq!(problem["type"], format!("urn:tessera:problem:{slug}"));
    }
    assert_eq!(confirm(&["--reference", "B-2"]).await, json!([{"state": "refunded", "minor": 2_000}]));
    let shown = till.program.json(&["orders", "show", &order.id]).await;
    assert_eq!(shown["status"], "refunded");
    let unmatched = till.payments("unmatched").await;
    assert_eq!((&unmatched[0]["order_id"], column(&unmatched, "reference")), (&Value::Null, vec!["T-2"]));
    till.program.close(server).await;
}

#[tokio::test]
async fn what_is_wrong_with_a_deed_is_said_by_name() {
    let till = Till::open(1).await;
    let server = till.program.serve().await;
    let order = till.place("ann").await;
    let unknown = "01a22cc3-604b-726c-85a6-a678e1db2110";
    for (line, code, slug) in [
        (&["orders", "refund", &order.id][..], 2, "invalid-request"),
        (&["orders", "refund", &order.id, "--reason", " "], 2, "invalid-request"),
        (&["orders", "refund", "x", "--reason", "r"], 2, "invalid-request"),
        (&["orders", "refund", unknown, "--reason", "r"], 1, "not-found"),
        (&["orders", "refund", &order.id, "--reason", "r"], 1, "order-not-refundable"),
        (&["orders", "accept", &order.id, "--reason", "r"], 1, "order-not-acceptable"),
        (&["payments", "refunded", unknown, "--reference", "B-1"], 1, "not-found"),
        (&["payments", "refunded", unknown], 2, "invalid-request"),
        (&["payments", "refunded", unknown, "--reference", "B-1", "--minor", "0"], 2, "invalid-request"),
        (&["payments", "list", "--state", "lost"], 2, "invalid-request"),
    ] {
        let problem = till.program.problem(line, code).await;
        assert_eq!(problem["type"], format!("urn:tessera:problem:{slug}"), "{line:?}");
    }
    assert_eq!(till.deed("cancel", &order).await["status"], "cancelled");
    assert_eq!(till.deed("cancel", &order).await["status"], "cancelled");
    till.program.close(server).await;
}

/// Case P70: a notice came, the order stayed unpaid, and nobody could see why.
#[tokio::test]
async fn a_refused_notice_is_listed_with_its_reason_and_body_at_once() {
    let till = Till::open(1).await;
    let server = till.program.serve().await;
    let order = till.place("ann").await;
    let odd = json!({"type": "payment.settled", "reference": "T-1", "order_id": order.id,
        "amount": {"minor": "19.90", "currency": "CNY"}});
    let refused = till.client.notify(&till.secret, &odd).await.unwrap();
    assert_eq!(refused.pointers(), ["/amount/minor"]);
    let listed = till.program.json(&["payments", "notices"]).await;
    let notice = &listed["notices"][0];
    assert_eq!(
        (fields(notice), &notice["reason"]),
        (vec!["body", "id", "provider", "reason", "received_at"], &json!("malformed"))
    );
    assert_eq!(notice["body"], odd.to_string());
    assert_eq!(till.client.get(&order).await.unwrap().with_status(200).order_status(), "awaiting_payment");
    till.program.close(server).await;
}
