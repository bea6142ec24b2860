//! `tessera orders`, and the payments that notices bring.

use serde_json::{Value, json};
use tessera_api::WebhookSecret;
use tessera_testbed::program::{Program, Receipt};

use super::{card, column, empty};

async fn ids(program: &Program, filters: &[&str]) -> Vec<String> {
    let mut line = vec!["orders", "list"];
    line.extend(filters);
    column(&program.json(&line).await["orders"], "id").iter().map(|id| (*id).to_owned()).collect()
}

#[tokio::test]
async fn orders_are_listed_by_filter_in_pages_and_shown() {
    let program = empty().await;
    program.products(&card("card")).await;
    program.stock("card", 20).await;
    let server = program.serve().await;
    let client = program.client();
    let mut placed: Vec<Receipt> = vec![];
    for customer in ["ann", "ben", "Ann", "ann", "ben"] {
        let order = client.place(customer, &[("card", 2)]).await.unwrap().with_status(201);
        placed.insert(0, order.receipt());
    }
    let all: Vec<String> = placed.iter().map(|receipt| receipt.id.clone()).collect();
    client.pay_waiting(&placed[1], 5).await.unwrap().with_status(200).codes();
    client.cancel(&placed[4]).await.unwrap().with_status(200).codes();

    assert_eq!(ids(&program, &[]).await, all);
    assert_eq!(ids(&program, &["--state", "issued"]).await, [all[1].clone()]);
    assert_eq!(ids(&program, &["--state", "cancelled"]).await, [all[4].clone()]);
    assert_eq!(ids(&program, &["--state", "refunded"]).await, [""; 0]);
    let anns = [&all[1], &all[2], &all[4]].map(Clone::clone);
    assert_eq!(ids(&program, &["--customer", "ANN"]).await, anns, "customers are compared folded");
    assert_eq!(ids(&program, &["--customer", "ann", "--state", "issued"]).await, [all[1].clone()]);
    let (mut paged, mut cursor) = (vec![], String::new());
    loop {
        let more = ["--limit", "2", "--cursor", cursor.as_str()];
        let mut line = vec!["orders", "list"];
        line.extend(if cursor.is_empty() { &more[..2] } else { &more[..] });
        let page = program.json(&line).await;
        paged.extend(column(&page["orders"], "id").iter().map(|id| (*id).to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        cursor = next.to_owned();
    }
    assert_eq!(paged, all);

    let mut shown = program.json(&["orders", "show", &all[1]]).await;
    let mut got = client.get(&placed[1]).await.unwrap().body;
    for order in [&mut shown, &mut got] {
        order["server_time"] = Value::Null;
    }
    let history = shown.as_object_mut().unwrap().remove("history").unwrap();
    assert_eq!(column(&history, "what"), ["placed", "paid", "money", "issued", "codes"]);
    assert_eq!(shown, got, "show prints what GET answers");
    let words = program.command(&["orders", "show", &all[1]]).await.stdout;
    assert!(words.contains("issued") && words.contains("3980 settled"), "{words}");
    program.close(server).await;
}

#[tokio::test]
async fn wrong_filters_and_ids_are_problems() {
    let program = empty().await;
    let unknown = "01a22cc3-604b-726c-85a6-a678e1db2110";
    assert_eq!(program.problem(&["orders", "show", unknown], 1).await["status"], 404);
    for (line, code) in [
        (&["orders", "show", "x"][..], 2),
        (&["orders", "list", "--state", "lost"], 2),
        (&["orders", "list", "--customer", ""], 2),
        (&["orders", "list", "--cursor", "x"], 2),
        (&["orders", "list", "--limit", "0"], 2),
        (&["orders", "list", "--limit", "1001"], 2),
        (&["orders", "lists"], 2),
    ] {
        program.problem(line, code).await;
    }
    program.close_stopped().await;
}

#[tokio::test]
async fn a_providers_notice_pays_an_order_once() {
    let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let secret = WebhookSecret::parse(text).unwrap();
    let program = Program::default().with("PAYMENTS__HMAC__SECRET", text);
    program.json(&["migrate"]).await;
    program.products(&card("card")).await;
    program.stock("card", 1).await;
    let server = program.serve().await;
    let client = program.client();
    let receipt = client.place("buyer", &[("card", 1)]).await.unwrap().with_status(201).receipt();
    let notice = |reference: &str, minor: i64| {
        json!({"type": "payment.settled", "reference": reference, "order_id": receipt.id,
            "amount": {"minor": minor, "currency": "CNY"}, "paid_at": "2026-11-30T12:00:00Z"})
    };
    let forged = WebhookSecret::parse("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").unwrap();
    let refused = client.notify(&forged, &notice("T-0", 1_990)).await.unwrap();
    assert_eq!((refused.status, refused.problem()), (401, "unauthorized"));
    let mut outcomes = vec![];
    for (reference, minor) in [("T-1", 1_000), ("T-1", 1_000), ("T-2", 990), ("T-3", 1_990)] {
        let told = client.notify(&secret, &notice(reference, minor)).await.unwrap().with_status(200);
        outcomes.push(told.body["outcome"].as_str().unwrap().to_owned());
    }
    assert_eq!(outcomes, ["short", "duplicate", "paid", "refund_due"]);
    let order = client.get_waiting(&receipt, 5).await.unwrap().with_status(200);
    assert_eq!((order.order_status(), order.codes().len()), ("issued", 1));
    assert_eq!(ids(&program, &["--reference", "T-2"]).await, std::slice::from_ref(&receipt.id));
    assert_eq!(ids(&program, &["--reference", "T-9"]).await, [""; 0]);
    program.close(server).await;
}
