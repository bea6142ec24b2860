//! Signed notices that cannot be read: refused, and kept so that an operator sees why nothing was paid.

use serde_json::{Value, json};
use tessera_model::money::PAYMENT_MINOR_MAX;
use tessera_store::StoreError;
use tessera_testbed::How;

use super::notice::{one_placed, outcome, payments, settled, signed};

#[tokio::test]
async fn a_body_that_is_no_json_is_refused_and_kept() {
    let (api, _) = one_placed(1).await;
    for (n, body) in ["", "{", "type=payment.settled&amount=1", "NaN"].iter().enumerate() {
        api.ask(signed(&api, body)).await.problem(400, "invalid-request");
        let notices = api.shop.notices().await;
        assert_eq!(notices.len(), n + 1);
        assert!(notices.iter().any(|kept| kept.body == body.as_bytes() && kept.reason == "malformed"));
    }
    api.close().await;
}

#[tokio::test]
async fn every_fault_is_named_by_a_pointer_and_the_notice_kept() {
    let (api, bought) = one_placed(1).await;
    let good = settled("T-1", bought.id(), 1_000);
    let with = |name: &str, value: Value| {
        let mut notice = good.clone();
        notice[name] = value;
        notice
    };
    let long = "x".repeat(129);
    for (body, pointers) in [
        (json!([]), &[""][..]),
        (json!("payment.settled"), &[""]),
        (json!({}), &["/type", "/reference", "/order_id", "/amount"]),
        (with("type", json!(1)), &["/type"]),
        (with("type", Value::Null), &["/type"]),
        (with("reference", json!("")), &["/reference"]),
        (with("reference", json!(&long)), &["/reference"]),
        (with("reference", json!("a\u{0}b")), &["/reference"]),
        (with("order_id", json!(&long[..65])), &["/order_id"]),
        (with("order_id", json!(7)), &["/order_id"]),
        (with("paid_at", json!("yesterday")), &["/paid_at"]),
        (with("amount", json!(1_000)), &["/amount"]),
        (with("amount", json!({ "minor": 1_000, "currency": "cny" })), &["/amount/currency"]),
        (with("amount", json!({ "minor": 1, "currency": "CNY", "scale": 2 })), &["/amount/scale"]),
        (with("memo", json!("")), &["/memo"]),
    ] {
        let before = api.shop.notices().await.len();
        assert_eq!(api.ask(signed(&api, body.to_string())).await.pointers(), pointers, "{body}");
        assert_eq!(api.shop.notices().await.len(), before + 1, "{body}");
    }
    assert_eq!(payments(&api).await, 0);
    assert_eq!(outcome(&api, &with("reference", json!(&long[..128]))).await, "paid");
    api.close().await;
}

#[tokio::test]
async fn an_amount_that_is_no_positive_integer_pays_nothing() {
    let (api, bought) = one_placed(1).await;
    let odd = [
        "[1000]",
        "[]",
        "{}",
        "\"\"",
        "\"NaN\"",
        "\"1000\"",
        "\" 68 \"",
        "\"1e2\"",
        "1e2",
        "1e3",
        "-68",
        "0",
        "-0",
        "68.001",
        "1000.0",
        "1e400",
        "-1e400",
        "null",
        "true",
        "9223372036854775808",
        "0x3E8",
        "1_000",
        "01000",
        "Infinity",
    ];
    for minor in odd {
        let body = settled("T-1", bought.id(), 1_000).to_string();
        let body = body.replace("\"minor\":1000", &format!("\"minor\":{minor}"));
        assert!(body.contains(minor));
        let answer = api.ask(signed(&api, body)).await;
        assert!(matches!(answer.status.as_u16(), 400 | 422), "{minor}: {}", answer.text());
        answer.problem(answer.status.as_u16(), "invalid-request");
    }
    assert_eq!(payments(&api).await, 0);
    assert_eq!(api.shop.notices().await.len(), odd.len());
    assert_eq!(api.show(&bought).await["status"], "awaiting_payment");
    api.close().await;
}

#[tokio::test]
async fn the_largest_amount_is_over_and_one_beyond_it_is_refused() {
    let (api, bought) = one_placed(1).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1)).await, "short");
    assert_eq!(outcome(&api, &settled("T-2", bought.id(), PAYMENT_MINOR_MAX)).await, "over");
    for beyond in [PAYMENT_MINOR_MAX + 1, i64::MAX] {
        let answer = api.ask(signed(&api, settled("T-3", bought.id(), beyond).to_string())).await;
        assert_eq!(answer.pointers(), ["/amount/minor"]);
    }
    api.close().await;
}

#[tokio::test]
async fn a_notice_that_is_too_large_is_refused() {
    let (api, _) = one_placed(1).await;
    api.ask(signed(&api, " ".repeat(65_537))).await.problem(413, "too-large");
    api.close().await;
}

#[tokio::test]
async fn a_good_notice_that_cannot_be_stored_is_kept() {
    let (api, bought) = one_placed(1).await;
    let body = settled("T-1", bought.id(), 1_000);
    let fault = How::Fail(StoreError::Data("a fault on order".to_owned()));
    api.shop.faults.next(1, "money_append", &"", fault);
    let answer = api.ask(signed(&api, body.to_string())).await;
    assert!(answer.status.is_client_error() || answer.status.is_server_error());
    let notices = api.shop.notices().await;
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].body, body.to_string().as_bytes());
    assert_eq!(outcome(&api, &body).await, "paid");
    api.close().await;
}
