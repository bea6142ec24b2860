//! Rounds over HTTP: what is on sale, what was drawn, and what proves it.

use serde_json::{Value, json};
use tessera_api::wire::ProofBody;
use tessera_model::draw::verify;
use tessera_model::ids::BatchId;

use super::api::Api;
use super::ask::{get, keys};

async fn raffle() -> (Api, Value) {
    let api = Api::open().await;
    api.shop.raffle("phone", 10, |_| ()).await;
    let product = api.ask(get("/v1/products/phone")).await.json(200);
    (api, product)
}

/// Buys so many shares and has them issued.
async fn bought(api: &Api, quantity: i64) {
    let order = api.shop.place("ann", &[("phone", quantity)]).await;
    api.shop.pay(order).await;
    api.shop.issue(&[order]).await;
}

#[tokio::test]
async fn a_raffle_shows_its_round_on_sale_and_what_its_draw_was_promised() {
    let (api, product) = raffle().await;
    assert_eq!((&product["kind"], &product["available"]), (&json!("raffle"), &json!(10)));
    assert_eq!(product["raffle"]["shares"], 10);
    let round = &product["current_round"];
    let fields = [
        "commitment",
        "digest",
        "entropy_rule",
        "first_number",
        "id",
        "number",
        "opened_at",
        "shares",
        "sku",
        "sold",
        "state",
    ];
    assert_eq!(keys(round), fields);
    assert_eq!((&round["state"], &round["number"], &round["sold"]), (&json!("open"), &json!(1), &json!(0)));
    bought(&api, 12).await;
    let product = api.ask(get("/v1/products/phone")).await.json(200);
    assert_eq!((&product["available"], &product["current_round"]["number"]), (&json!(8), &json!(2)));
    let listed = api.ask(get("/v1/products/phone/rounds?limit=1")).await.json(200);
    assert_eq!(listed["rounds"][0]["id"], product["current_round"]["id"]);
    let next = listed["next"].as_str().unwrap();
    let rest = api.ask(get(format!("/v1/products/phone/rounds?limit=9&cursor={next}"))).await.json(200);
    assert_eq!((&rest["rounds"][0]["id"], &rest["next"]), (&round["id"], &Value::Null));
    assert_eq!(rest["rounds"][0]["commitment"], round["commitment"]);
    api.close().await;
}

#[tokio::test]
async fn a_proof_is_there_after_the_draw_and_verifies() {
    let (api, product) = raffle().await;
    let id = product["current_round"]["id"].as_str().unwrap().to_owned();
    let proof = || get(format!("/v1/rounds/{id}/proof"));
    api.ask(proof()).await.problem(409, "round-not-drawn");
    bought(&api, 10).await;
    let full = api.ask(get(format!("/v1/rounds/{id}"))).await.json(200);
    assert_eq!((&full["state"], &full["sold"]), (&json!("full"), &json!(10)));
    api.ask(proof()).await.problem(409, "round-not-drawn");
    api.shop.draw(BatchId::parse(&id).unwrap()).await;
    let drawn = api.ask(get(format!("/v1/rounds/{id}"))).await.json(200);
    let answer = api.ask(proof()).await;
    let body = answer.json(200);
    assert_eq!((&body["digest"], &body["winning_number"]), (&full["digest"], &drawn["winning_number"]));
    verify(&ProofBody::read(&answer.bytes).unwrap().proof().unwrap()).unwrap();
    api.close().await;
}

#[tokio::test]
async fn rounds_that_are_none_are_not_found() {
    let (api, _) = raffle().await;
    api.shop.product("card", |_| ()).await;
    for path in [
        "/v1/products/card/rounds",
        "/v1/products/nothing/rounds",
        "/v1/rounds/nothing",
        "/v1/rounds/0193a000-0000-7000-8000-000000000000",
        "/v1/rounds/0193a000-0000-7000-8000-000000000000/proof",
    ] {
        api.ask(get(path)).await.problem(404, "not-found");
    }
    api.ask(get("/v1/products/phone/rounds?cursor=x")).await.problem(422, "invalid-request");
    api.close().await;
}
