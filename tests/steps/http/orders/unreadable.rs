//! `POST /v1/orders`, malformed.

use serde_json::{Value, json};

use crate::http::api::Api;
use crate::http::ask::{Answer, post};

async fn sent(api: &Api, body: &Value) -> Vec<String> {
    api.ask(post("/v1/orders").json(body)).await.pointers()
}

async fn raw(api: &Api, body: impl Into<Vec<u8>>) -> Answer {
    api.ask(post("/v1/orders").header("content-type", "application/json").raw(body)).await
}

#[tokio::test]
async fn a_body_that_is_no_json_is_unreadable() {
    let api = Api::open().await;
    let deep = "[".repeat(10_000);
    for body in ["", "{", "{}x", "{\"lines\":}", "\u{feff}{}", "NaN", "{'a':1}", &deep] {
        raw(&api, body).await.problem(400, "invalid-request");
    }
    raw(&api, [0xff, 0xfe, 0x7b]).await.problem(400, "invalid-request");
    raw(&api, *b"{\"customer\":{\"id\":\"\xff\"}}").await.problem(400, "invalid-request");
    api.close().await;
}

#[tokio::test]
async fn an_unreadable_body_is_not_repeated_in_the_answer() {
    let api = Api::open().await;
    let answer = raw(&api, "{\"customer\": secret-of-the-buyer}").await;
    answer.problem(400, "invalid-request");
    assert!(!answer.text().contains("secret-of-the-buyer"));
    api.close().await;
}

#[tokio::test]
async fn a_body_that_does_not_say_it_is_json_is_refused() {
    let api = Api::open().await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json", ""] {
        let answer = api.ask(post("/v1/orders").header("content-type", kind).raw("{}")).await;
        answer.problem(415, "unsupported-media-type");
    }
    api.ask(post("/v1/orders").raw("{}")).await.problem(415, "unsupported-media-type");
    for kind in ["application/json", "Application/JSON; charset=utf-8", "application/vnd.shop+json"] {
        let answer = api.ask(post("/v1/orders").header("content-type", kind).raw("{}")).await;
        answer.problem(422, "invalid-request");
    }
    api.close().await;
}

#[tokio::test]
async fn a_body_of_more_than_64_kib_is_too_large() {
    let api = Api::open().await;
    let padded = |length: usize| format!("{{}}{}", " ".repeat(length - 2));
    raw(&api, padded(65_536)).await.problem(422, "invalid-request");
    raw(&api, padded(65_537)).await.problem(413, "too-large");
    raw(&api, padded(10_000_000)).await.problem(413, "too-large");
    api.close().await;
}

#[tokio::test]
async fn every_fault_is_named_by_a_pointer() {
    let api = Api::open().await;
    assert_eq!(sent(&api, &json!({})).await, ["/customer", "/lines"]);
    assert_eq!(sent(&api, &json!({ "customer": null, "lines": null })).await, ["/customer", "/lines"]);
    assert_eq!(sent(&api, &json!({ "customer": [], "lines": {} })).await, ["/customer", "/lines"]);
    let body = json!({ "customer": { "id": 7, "email": "no address", "name": "Ann" },
        "lines": [{ "sku": "card" }, [], { "sku": "a b", "quantity": "1", "price": 0 }], "a/b~c": 1 });
    let mut found = sent(&api, &body).await;
    found.sort_unstable();
    let expected = [
        "/a~1b~0c",
        "/customer/email",
        "/customer/id",
        "/customer/name",
        "/lines/0/quantity",
        "/lines/1",
        "/lines/2/price",
        "/lines/2/quantity",
        "/lines/2/sku",
    ];
    assert_eq!(found, expected);
    api.close().await;
}

#[tokio::test]
async fn an_array_or_scalar_in_place_of_the_order_is_refused() {
    let api = Api::open().await;
    for body in [json!([]), json!([{}]), json!("{}"), json!(1), json!(null), json!(true)] {
        assert_eq!(sent(&api, &body).await, [""]);
    }
    api.close().await;
}

#[tokio::test]
async fn a_quantity_is_a_whole_number_from_1_to_100_000_in_all_lines() {
    let api = Api::open().await;
    let (one, many) = ("/lines/0/quantity", "/lines/1/quantity");
    for quantity in [json!(0), json!(-1), json!(1.0), json!(1.5), json!("1"), json!(100_001), json!(1e2)] {
        let body = json!({ "customer": { "id": "ann" }, "lines": [{ "sku": "card", "quantity": quantity }] });
        assert_eq!(sent(&api, &body).await, [one], "{body}");
    }
    let body = json!({ "customer": { "id": "ann" },
        "lines": [{ "sku": "card", "quantity": 60_000 }, { "sku": "pass", "quantity": 60_000 }] });
    assert_eq!(sent(&api, &body).await, [many]);
    let huge = i64::MAX;
    let body = json!({ "customer": { "id": "ann" },
        "lines": [{ "sku": "card", "quantity": huge }, { "sku": "card", "quantity": huge }] });
    assert!(!sent(&api, &body).await.is_empty());
    api.close().await;
}

#[tokio::test]
async fn an_order_has_1_to_100_lines() {
    let api = Api::open().await;
    let lines = |count: usize| -> Vec<Value> {
        (0..count).map(|n| json!({ "sku": format!("card-{n}"), "quantity": 1 })).collect()
    };
    for count in [0, 101] {
        assert_eq!(
            sent(&api, &json!({ "customer": { "id": "ann" }, "lines": lines(count) })).await,
            ["/lines"]
        );
    }
    let body = json!({ "customer": { "id": "ann" }, "lines": lines(100) });
    api.ask(post("/v1/orders").json(&body)).await.problem(404, "not-found");
    api.close().await;
}

#[tokio::test]
async fn a_customer_has_1_to_128_characters_and_no_control_characters() {
    let api = Api::open().await;
    let long = "x".repeat(129);
    for id in ["", " ", "a\u{0}b", "a\nb", "a\u{85}b", long.as_str()] {
        let body = json!({ "customer": { "id": id }, "lines": [{ "sku": "card", "quantity": 1 }] });
        assert_eq!(sent(&api, &body).await, ["/customer/id"], "{id:?}");
    }
    api.close().await;
}

#[tokio::test]
async fn an_address_that_is_none_is_not_repeated_in_the_answer() {
    let api = Api::open().await;
    let body = json!({ "customer": { "id": "ann", "email": "not-an-address" }, "lines": [] });
    let answer = api.ask(post("/v1/orders").json(&body)).await;
    assert!(answer.pointers().contains(&"/customer/email".to_owned()));
    assert!(!answer.text().contains("not-an-address"));
    api.close().await;
}
