//! `/v1/admin/products/{sku}/batches`, `/v1/admin/batches/{id}/void`, `/v1/admin/codes/check`, `/v1/admin/ledger`.

use serde_json::{Value, json};
use tessera_store::operators::Role;

use super::super::api::Api;
use super::super::ask::{Answer, get, keys, post};
use super::super::openapi::{answer, document, matches};

/// A shop with ten cards of which ann has two, an operator's key, and the codes.
async fn selling() -> (Api, String, Vec<String>, String) {
    let (api, codes) = Api::selling(10).await;
    let bought = api.buy("ann", &[("card", 2)]).await;
    let key = api.key(Role::Operator).await;
    (api, key, codes, bought.id().to_owned())
}

async fn list(api: &Api, key: &str, path: &str) -> Value {
    api.ask(get(path).token(key)).await.json(200)
}

async fn void(api: &Api, key: &str, batch: &str, body: &Value) -> Answer {
    api.ask(post(format!("/v1/admin/batches/{batch}/void")).token(key).json(body)).await
}

#[tokio::test]
async fn a_batch_is_voided_over_http_and_says_what_it_sold() {
    let (api, key, _, order) = selling().await;
    let document = document(&api).await;
    let path = "/v1/admin/products/card/batches";
    let batches = list(&api, &key, path).await;
    matches(&document, answer(&document, "/v1/admin/products/{sku}/batches", "get", "200"), &batches, path);
    let batch = &batches["batches"][0];
    let id = batch["id"].as_str().unwrap();
    assert_eq!(
        (&batch["state"], &batch["unissued"], &batch["issued"]),
        (&json!("open"), &json!(8), &json!(2))
    );
    let claimed = api.place("bob", &[("card", 3)]).await;
    let reason = json!({ "reason": "taken back" });
    void(&api, &key, id, &reason).await.problem(409, "conflict");
    let one = json!({ "reason": "it is used", "positions": [0, 9] });
    let voided = void(&api, &key, id, &one).await.json(200);
    matches(&document, answer(&document, "/v1/admin/batches/{id}/void", "post", "200"), &voided, "void");
    assert_eq!((&voided["voided"], &voided["voided_sold"]), (&json!(1), &json!(1)));
    void(&api, &key, id, &one).await.problem(409, "conflict");
    let forced = json!({ "reason": "taken back", "force": true });
    let voided = void(&api, &key, id, &forced).await.json(200);
    matches(&document, answer(&document, "/v1/admin/batches/{id}/void", "post", "200"), &voided, "void");
    assert_eq!((&voided["voided"], &voided["sold"][0]["order_id"]), (&json!(7), &json!(order)));
    let waits = json!([{ "order_id": claimed.id(), "status": "awaiting_payment", "quantity": 3 }]);
    assert_eq!(voided["waiting"], waits);
    api.ask(claimed.cancel()).await.json(200);
    for (body, pointers) in [
        (json!({}), vec!["/reason"]),
        (json!({ "reason": "", "positions": [] }), vec!["/reason", "/positions"]),
        (json!({ "reason": "x", "positions": [-1] }), vec!["/positions"]),
        (json!({ "reason": "x", "positions": [99] }), vec!["/positions"]),
        (json!({ "reason": "x", "positions": "all", "force": 1 }), vec!["/positions", "/force"]),
    ] {
        assert_eq!(void(&api, &key, id, &body).await.pointers(), pointers, "{body}");
    }
    let unknown = "01a22cc3-604b-726c-85a6-a678e1db2110";
    void(&api, &key, unknown, &reason).await.problem(404, "not-found");
    api.ask(get("/v1/admin/products/none/batches").token(&key)).await.problem(404, "not-found");
    api.close().await;
}

#[tokio::test]
async fn a_code_is_checked_by_its_body_alone() {
    let (api, key, codes, order) = selling().await;
    let document = document(&api).await;
    let check = async |code: &str| -> Value {
        let asked = post("/v1/admin/codes/check").token(&key).json(&json!({ "code": code }));
        let checked = api.ask(asked).await.json(200);
        matches(&document, answer(&document, "/v1/admin/codes/check", "post", "200"), &checked, "check");
        checked
    };
    let sold = check(&codes[1]).await;
    assert_eq!((&sold["ours"], &sold["sku"], &sold["position"]), (&json!(true), &json!("card"), &json!(1)));
    assert_eq!(
        (&sold["state"], &sold["order_id"], &sold["line"]),
        (&json!("issued"), &json!(order), &json!(1))
    );
    let unsold = check(&codes[2]).await;
    assert_eq!(keys(&unsold), ["batch", "ours", "position", "sku", "state"]);
    assert_eq!(unsold["state"], "unissued");
    assert_eq!(check("AAAA-0000").await, json!({ "ours": false }));
    for bad in [json!({}), json!({ "code": "" }), json!({ "code": 7 }), json!({ "code": "x".repeat(5_000) })]
    {
        let answer = api.ask(post("/v1/admin/codes/check").token(&key).json(&bad)).await;
        assert_eq!(answer.pointers(), ["/code"]);
        assert!(!answer.text().contains("xxx"), "a code is not repeated");
    }
    api.close().await;
}

#[tokio::test]
async fn the_ledger_tells_of_every_movement_with_its_cause() {
    let (api, key, _, order) = selling().await;
    let document = document(&api).await;
    let batches = list(&api, &key, "/v1/admin/products/card/batches").await;
    let batch = batches["batches"][0]["id"].as_str().unwrap();
    void(&api, &key, batch, &json!({ "reason": "taken back" })).await.json(200);
    let ledger = list(&api, &key, "/v1/admin/ledger").await;
    matches(&document, answer(&document, "/v1/admin/ledger", "get", "200"), &ledger, "ledger");
    let told = |ledger: &Value| -> Vec<(String, i64)> {
        let movements = ledger["ledger"].as_array().unwrap().iter();
        movements.map(|m| (m["kind"].as_str().unwrap().to_owned(), m["quantity"].as_i64().unwrap())).collect()
    };
    let expected = [("void", 8), ("issue", 2), ("import", 10)].map(|(kind, n)| (kind.to_owned(), n));
    assert_eq!((told(&ledger), &ledger["next"]), (expected.to_vec(), &Value::Null));
    let void = &ledger["ledger"][0];
    assert_eq!(
        (&void["reason"], &void["start"], &void["upto"]),
        (&json!("taken back"), &json!(2), &json!(10))
    );
    assert!(void["actor"].as_str().unwrap().starts_with("key:") && void["at"].is_string());
    assert_eq!(ledger["ledger"][1]["order_id"], json!(order));
    assert_eq!(ledger["ledger"][2]["actor"], "test", "who imported it");
    let page = list(&api, &key, "/v1/admin/ledger?limit=2").await;
    let next = page["next"].as_str().unwrap();
    let rest = list(&api, &key, &format!("/v1/admin/ledger?cursor={next}")).await;
    assert_eq!([told(&page), told(&rest)].concat(), expected);
    for (query, count) in [
        (format!("order={order}"), 1),
        (format!("batch={batch}"), 3),
        ("sku=card".to_owned(), 3),
        (format!("sku=card&order={}", "01a22cc3-604b-726c-85a6-a678e1db2110"), 0),
    ] {
        assert_eq!(
            told(&list(&api, &key, &format!("/v1/admin/ledger?{query}")).await).len(),
            count,
            "{query}"
        );
    }
    api.ask(get("/v1/admin/ledger?sku=none").token(&key)).await.problem(404, "not-found");
    for (query, pointer) in
        [("batch=x", "batch"), ("order=x", "order"), ("sku=a%20b", "sku"), ("cursor=x", "cursor")]
    {
        let answer = api.ask(get(format!("/v1/admin/ledger?{query}")).token(&key)).await;
        assert_eq!(answer.pointers(), [pointer]);
    }
    api.close().await;
}
