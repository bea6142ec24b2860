//! `/v1/admin/products` and `/v1/admin/reconcile`.

use serde_json::{Value, json};
use tessera_store::operators::Role;

use super::super::api::Api;
use super::super::ask::{ask, get};
use super::super::openapi::{answer, document, matches};

fn card(price: i64) -> Value {
    json!({ "name": "Card", "kind": "codes", "price": { "minor": price, "currency": "CNY" }, "active": false })
}

#[tokio::test]
async fn a_product_is_created_and_replaced_by_put_and_seen_by_operators_alone() {
    let api = Api::open().await;
    let (key, document) = (api.key(Role::Operator).await, document(&api).await);
    let put = |body: &Value| ask("PUT", "/v1/admin/products/card").token(&key).json(body);
    let created = api.ask(put(&card(1_000))).await.json(201);
    matches(&document, answer(&document, "/v1/admin/products/{sku}", "put", "201"), &created, "put");
    assert_eq!((&created["active"], &created["price"]["minor"]), (&json!(false), &json!(1_000)));
    let replaced = api.ask(put(&card(2_000))).await.json(200);
    assert_eq!(replaced["price"]["minor"], 2_000);
    let shown = api.ask(get("/v1/admin/products/card").token(&key)).await.json(200);
    assert_eq!(shown, replaced);
    let listed = api.ask(get("/v1/admin/products").token(&key)).await.json(200);
    matches(&document, answer(&document, "/v1/admin/products", "get", "200"), &listed, "list");
    assert_eq!(listed, json!({ "products": [replaced], "next": null }));
    api.ask(get("/v1/products/card")).await.problem(404, "not-found");

    let other = json!({ "sku": "other", "name": "Card", "kind": "codes", "price": { "minor": 1, "currency": "CNY" } });
    assert_eq!(api.ask(put(&other)).await.pointers(), ["/sku"]);
    assert_eq!(api.ask(put(&json!({}))).await.pointers(), ["/name", "/kind", "/price"]);
    api.ask(get("/v1/admin/products/none").token(&key)).await.problem(404, "not-found");
    api.close().await;
}

#[tokio::test]
async fn what_a_sale_has_fixed_cannot_be_put() {
    let (api, _) = Api::selling_later(1).await;
    let key = api.key(Role::Owner).await;
    api.place("ann", &[("card", 1)]).await;
    let euros = json!({ "name": "Card", "kind": "codes", "price": { "minor": 1, "currency": "EUR" } });
    let put = ask("PUT", "/v1/admin/products/card").token(&key).json(&euros);
    api.ask(put).await.problem(409, "conflict");
    api.close().await;
}

#[tokio::test]
async fn balances_and_rows_at_fault_are_told_over_http() {
    let (api, _) = Api::selling_later(2).await;
    let (key, document) = (api.key(Role::Viewer).await, document(&api).await);
    let reconcile = || api.ask(get("/v1/admin/reconcile").token(&key));
    let proof = reconcile().await.json(200);
    matches(&document, answer(&document, "/v1/admin/reconcile", "get", "200"), &proof, "reconcile");
    assert_eq!(proof["balanced"], true);
    api.shop.operate("UPDATE stock SET claimed = 1").await;
    let proof = reconcile().await.json(200);
    matches(&document, answer(&document, "/v1/admin/reconcile", "get", "200"), &proof, "reconcile");
    assert_eq!(proof["balanced"], false);
    let faults: Vec<&Value> =
        proof["checks"].as_array().unwrap().iter().flat_map(|c| c["faults"].as_array().unwrap()).collect();
    assert_eq!((faults.len(), &faults[0]["table"]), (1, &json!("stock")));
    api.shop.operate("UPDATE stock SET claimed = 0").await;
    api.close().await;
}
