//! Notices of refunds and disputes, and what is counted of payments that need a hand.

use serde_json::{Value, json};
use tessera_model::pay::MoneyState;

use super::notice::{one_placed, outcome, settled, signature, signed};
use crate::http::api::Api;
use crate::http::ask::{get, post};

fn refunded(reference: &str, order: &str, minor: i64) -> Value {
    let mut notice = settled(reference, order, minor);
    notice["type"] = json!("payment.refunded");
    notice
}

/// What is counted for a reason.
async fn alerts(api: &Api, reason: &str) -> u64 {
    let line = format!("tessera_payment_alerts_total{{reason=\"{reason}\"}} ");
    let metrics = api.ask(get("/metrics")).await;
    metrics.text().lines().find_map(|l| l.strip_prefix(&line)).map_or(0, |count| count.parse().unwrap())
}

/// Sends a notice under an id of its own.
async fn told(api: &Api, id: &str, body: &Value) -> String {
    let (at, body) = ("1", body.to_string());
    let ask = post(super::notice::PATH).header("content-type", "application/json").raw(body.as_str());
    let ask = ask.header("webhook-id", id).header("webhook-timestamp", at);
    let answer = api.ask(ask.header("webhook-signature", signature(id, at, body.as_bytes()))).await;
    answer.json(200)["outcome"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_refund_notice_moves_its_money_once_and_no_order() {
    let (api, bought) = one_placed(1).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "paid");
    let notice = refunded("T-1", bought.id(), 300);
    for said in ["recorded", "duplicate", "duplicate"] {
        assert_eq!(told(&api, "msg_1", &notice).await, said);
    }
    assert_eq!(told(&api, "msg_2", &notice).await, "recorded", "another refund of the same amount");
    assert_eq!(api.show(&bought).await["status"], "paid");
    let split = [(MoneyState::Settled, 400), (MoneyState::Refunded, 600)];
    assert_eq!(api.shop.money(bought.order_id()).await, split.into());
    assert_eq!((alerts(&api, "refund").await, api.shop.notices().await.len()), (2, 0));
    api.close().await;
}

#[tokio::test]
async fn a_refund_notice_that_does_not_fit_is_recorded_kept_and_counted() {
    let (api, bought) = one_placed(1).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "paid");
    assert_eq!(told(&api, "msg_1", &refunded("T-2", bought.id(), 300)).await, "recorded");
    assert_eq!(told(&api, "msg_2", &refunded("T-1", "another", 300)).await, "recorded");
    assert_eq!(told(&api, "msg_3", &refunded("T-1", bought.id(), 1_001)).await, "recorded");
    assert_eq!(alerts(&api, "refund_does_not_fit").await, 3);
    let bodies: Vec<String> =
        api.shop.notices().await.into_iter().map(|n| String::from_utf8(n.body).unwrap()).collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| body.contains("payment.refunded")));
    api.close().await;
}

#[tokio::test]
async fn a_malformed_refund_notice_is_refused_with_its_faults() {
    let (api, bought) = one_placed(1).await;
    let mut notice = refunded("T-1", bought.id(), 1);
    notice["amount"]["minor"] = json!("300");
    notice["reference"] = Value::Null;
    let answer = api.ask(signed(&api, notice.to_string())).await;
    assert_eq!(answer.pointers(), ["/reference", "/amount/minor"]);
    assert_eq!(api.shop.notices().await.len(), 1);
    api.close().await;
}

#[tokio::test]
async fn a_dispute_is_kept_and_moves_nothing() {
    let (api, bought) = one_placed(1).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "paid");
    let before = api.show(&bought).await;
    let mut notice = settled("T-1", bought.id(), 1_000);
    notice["type"] = json!("payment.disputed");
    assert_eq!(outcome(&api, &notice).await, "recorded");
    assert_eq!((api.show(&bought).await, api.shop.notices().await.len()), (before, 1));
    assert_eq!(alerts(&api, "dispute").await, 1);
    api.close().await;
}

/// Case P56: two payments for one order, and the second was thrown away in silence.
#[tokio::test]
async fn a_second_payment_is_issued_nothing_owed_back_and_alerted_once() {
    let (mut api, bought) = one_placed(2).await;
    for _ in 0..2 {
        for reference in ["T-1", "T-2"] {
            outcome(&api, &settled(reference, bought.id(), 1_000)).await;
        }
    }
    api.start_issuer().await;
    api.shop.sweep().await;
    api.shop.until(&[bought.order_id()], tessera_model::order::OrderStatus::Issued).await;
    assert_eq!(api.shop.codes_of(bought.order_id()).await.len(), 1);
    let owed = api.shop.payments(Some(MoneyState::RefundDue)).await;
    assert_eq!(owed.iter().map(|stored| stored.payment.reference.as_str()).collect::<Vec<_>>(), ["T-2"]);
    assert_eq!(alerts(&api, "second_payment").await, 1);
    api.close().await;
}

#[tokio::test]
async fn every_reason_to_look_at_a_payment_is_counted() {
    let (api, bought) = one_placed(1).await;
    outcome(&api, &settled("T-1", "nobody's", 1_000)).await;
    let mut euro = settled("T-2", bought.id(), 1_000);
    euro["amount"]["currency"] = json!("EUR");
    outcome(&api, &euro).await;
    outcome(&api, &settled("T-3", bought.id(), 1_001)).await;
    outcome(&api, &settled("T-3", bought.id(), 1_002)).await;
    for reason in ["unknown_order", "wrong_currency", "over", "contradiction"] {
        assert_eq!(alerts(&api, reason).await, 1, "{reason}");
    }
    api.close().await;
}
