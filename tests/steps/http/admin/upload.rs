//! `POST /v1/admin/products/{sku}/batches`.

use serde_json::{Value, json};
use tessera_store::operators::Role;

use super::super::api::Api;
use super::super::ask::{Ask, post};

async fn office() -> (Api, String) {
    let api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    let key = api.key(Role::Operator).await;
    (api, key)
}

fn upload(key: &str, query: &str, kind: &str, text: &str) -> Ask {
    let path = format!("/v1/admin/products/card/batches{query}");
    post(path).token(key).header("content-type", kind).raw(text)
}

#[tokio::test]
async fn a_file_that_is_sent_is_on_sale_and_says_what_became_of_each_line() {
    let (api, key) = office().await;
    let query = "?supplier=acme&cost=500&expires=2099-01-31T00:00:00Z&reason=bought";
    let report = api.ask(upload(&key, query, "text/plain", "A-1\n\nA-2\nA-1\n")).await.json(201);
    assert_eq!((&report["imported"], &report["blank"]), (&json!(2), &json!(1)));
    assert_eq!(report["known"], json!([{"line": 4, "verdict": "repeated_in_file"}]));
    assert_eq!(api.shop.shelf("card").await.unissued, 2);
    let kept =
        "SELECT count(*) FROM batch WHERE supplier = 'acme' AND cost_minor = 500 AND expires_at IS NOT NULL";
    assert_eq!(api.shop.number(kept).await, 1);
    let again = api.ask(upload(&key, "", "text/csv; charset=utf-8", "code\nA-1\n")).await.json(200);
    assert_eq!((&again["batch"], &again["skipped"]["in_stock"]), (&Value::Null, &json!(1)));
    api.close().await;
}

#[tokio::test]
async fn a_dry_run_or_a_malformed_line_puts_nothing_on_sale() {
    let (api, key) = office().await;
    let dry = api.ask(upload(&key, "?dry_run=true", "text/plain", "A-1\n")).await.json(200);
    assert_eq!((&dry["imported"], &dry["first"]), (&json!(1), &json!(["A-1"])));
    let bad = api.ask(upload(&key, "", "text/plain", "A-1\nA\u{1}2\n")).await.json(422);
    assert_eq!(bad["malformed"][0]["line"], 2);
    assert_eq!(api.shop.shelf("card").await.unissued, 0);
    let rest = api.ask(upload(&key, "?skip_malformed=true", "text/plain", "A-1\nA\u{1}2\n")).await.json(201);
    assert_eq!(rest["imported"], 1);
    api.close().await;
}

#[tokio::test]
async fn what_is_wrong_with_an_upload_is_named() {
    let (api, key) = office().await;
    api.ask(upload(&key, "", "application/json", "{}")).await.problem(415, "unsupported-media-type");
    for (query, at) in [
        ("?separator=x", "separator"),
        ("?encoding=latin-1", "encoding"),
        ("?cost=-1", "cost"),
        ("?expires=soon", "expires"),
        ("?expires=2001-01-31T00:00:00Z", "expires"),
    ] {
        assert_eq!(api.ask(upload(&key, query, "text/csv", "a\n")).await.pointers(), [at]);
    }
    let path = "/v1/admin/products/none/batches";
    let none = post(path).token(&key).header("content-type", "text/plain").raw("a\n");
    api.ask(none).await.problem(404, "not-found");
    api.shop.raffle("phone", 10, |_| ()).await;
    let computed =
        post("/v1/admin/products/phone/batches").token(&key).header("content-type", "TEXT/plain").raw("a\n");
    api.ask(computed).await.problem(409, "conflict");
    api.close().await;
}
