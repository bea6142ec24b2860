//! `POST /v1/orders` with an `Idempotency-Key`.

use std::time::Duration;

use serde_json::{Value, json};
use tessera_testbed::{Engine, Shop};

use crate::http::api::{Api, Bought, order};
use crate::http::ask::{Ask, post};

const KEY: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";

fn keyed(ask: Ask, key: &str) -> Ask {
    ask.header("idempotency-key", key)
}

async fn orders(api: &Api) -> i64 {
    api.shop.number("SELECT count(*) FROM orders").await
}

/// Case P71: an unpaid order asked for again under its own number was an error.
#[tokio::test]
async fn a_repeat_is_answered_with_the_same_order_and_token() {
    let (api, _) = Api::selling(3).await;
    let ask = || keyed(order("ann", &[("card", 1)]), KEY);
    let first = api.ask(ask()).await.json(201);
    let again = api.ask(ask()).await;
    assert_eq!(again.header("location"), first["links"]["self"].as_str());
    assert_eq!(again.header("etag"), Some("W/\"1\""));
    assert_eq!(again.json(200), first);
    assert_eq!(orders(&api).await, 1);
    api.close().await;
}

#[tokio::test]
async fn a_repeat_shows_the_order_as_it_is_now() {
    let (api, codes) = Api::selling(1).await;
    let ask = || keyed(order("ann", &[("card", 1)]), KEY);
    let bought = Bought::of(&api.ask(ask()).await.json(201));
    api.ask(bought.pay().wait(30)).await.json(200);
    let again = api.ask(ask()).await;
    assert_eq!(again.header("retry-after"), None);
    let again = again.json(200);
    assert_eq!(again["status"], "issued");
    assert_eq!(again["token"], bought.token.as_str());
    assert_eq!(again["lines"][0]["codes"][0]["code"], codes[0].as_str());
    api.close().await;
}

#[tokio::test]
async fn a_key_is_the_same_quoted_or_bare() {
    let (api, _) = Api::selling(3).await;
    let quoted = format!("\"{KEY}\"");
    let first = api.ask(keyed(order("ann", &[("card", 1)]), &quoted)).await.json(201);
    assert_eq!(api.ask(keyed(order("ann", &[("card", 1)]), KEY)).await.json(200)["id"], first["id"]);
    api.close().await;
}

#[tokio::test]
async fn bodies_are_compared_after_parsing() {
    let (api, _) = Api::selling(3).await;
    let first = api.ask(keyed(order("ann", &[("card", 1)]), KEY)).await.json(201);
    let written_otherwise = r#" {"lines" : [ {"quantity":1, "sku":"\u0063ard"} ],
        "customer": {"email": null, "id":"ann"}} "#;
    let again = keyed(post("/v1/orders"), KEY).header("content-type", "application/json");
    assert_eq!(api.ask(again.raw(written_otherwise)).await.json(200)["id"], first["id"]);
    api.close().await;
}

#[tokio::test]
async fn another_body_under_the_key_is_refused() {
    let (api, _) = Api::selling(9).await;
    api.ask(keyed(order("ann", &[("card", 1)]), KEY)).await.json(201);
    let with = |customer: Value, lines: Value| {
        keyed(post("/v1/orders").json(&json!({ "customer": customer, "lines": lines })), KEY)
    };
    let one = json!([{ "sku": "card", "quantity": 1 }]);
    for other in [
        with(json!({ "id": "ann" }), json!([{ "sku": "card", "quantity": 2 }])),
        with(json!({ "id": "bob" }), one.clone()),
        with(json!({ "id": "ann", "email": "ann@example.com" }), one),
        with(json!({ "id": "ann" }), json!([{ "sku": "pass", "quantity": 1 }])),
    ] {
        api.ask(other).await.problem(422, "idempotency-key-reused");
    }
    assert_eq!(orders(&api).await, 1);
    api.close().await;
}

#[tokio::test]
async fn a_refused_request_leaves_its_key_free() {
    let (api, _) = Api::selling(1).await;
    api.ask(keyed(order("ann", &[("card", 2)]), KEY)).await.problem(409, "sold-out");
    api.ask(keyed(order("ann", &[("none", 1)]), KEY)).await.problem(404, "not-found");
    api.ask(keyed(order("ann", &[("card", 0)]), KEY)).await.problem(422, "invalid-request");
    api.ask(keyed(order("ann", &[("card", 1)]), KEY)).await.json(201);
    api.ask(keyed(order("ann", &[("card", 1)]), KEY)).await.json(200);
    api.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_requests_at_once_make_one_order() {
    let (api, _) = Api::selling(9).await;
    let asks = (0..100).map(|_| api.ask(keyed(order("ann", &[("card", 1)]), KEY)));
    let answers = futures_util::future::join_all(asks).await;
    let created = answers.iter().filter(|a| a.status.as_u16() == 201).count();
    assert_eq!(created, 1);
    let first: Value = serde_json::from_slice(&answers[0].bytes).unwrap();
    for answer in &answers {
        assert!(answer.status.is_success(), "{}", answer.text());
        assert_eq!(serde_json::from_slice::<Value>(&answer.bytes).unwrap(), first);
    }
    assert_eq!(orders(&api).await, 1);
    api.close().await;
}

#[tokio::test]
async fn a_key_is_kept_for_48_hours() {
    let (api, _) = Api::selling(3).await;
    let ask = || keyed(order("ann", &[("card", 1)]), KEY);
    let first = api.ask(ask()).await.json(201);
    api.shop.clock.advance(Duration::from_hours(48) - Duration::from_secs(1));
    assert_eq!(api.ask(ask()).await.json(200)["id"], first["id"]);
    api.shop.clock.advance(Duration::from_secs(2));
    assert_ne!(api.ask(ask()).await.json(201)["id"], first["id"]);
    api.close().await;
}

#[tokio::test]
async fn a_key_out_of_bounds_is_named_and_not_repeated() {
    let (api, _) = Api::selling(1).await;
    let (longest, long) = ("x".repeat(128), "x".repeat(129));
    for key in ["", "short-7", "with a space", "\"\"", "schlüssel-1", long.as_str()] {
        let answer = api.ask(keyed(order("ann", &[("card", 1)]), key)).await;
        assert_eq!(answer.pointers(), ["Idempotency-Key"], "{key}");
        assert!(key.is_empty() || !answer.text().contains(key), "{}", answer.text());
    }
    assert_eq!(orders(&api).await, 0);
    api.ask(keyed(order("ann", &[("card", 1)]), &longest)).await.json(201);
    api.close().await;
}

#[tokio::test]
async fn the_key_itself_is_not_stored() {
    // On SQLite, for the file shows everything that is stored.
    let (api, _) = Api::over(Shop::open_on(Engine::Sqlite).await, |_| ()).selling_cards(1).await;
    api.ask(keyed(order("ann", &[("card", 1)]), KEY)).await.json(201);
    let file = api.shop.file();
    for name in [file.clone(), file.with_extension("db-wal")] {
        let bytes = std::fs::read(&name).unwrap_or_default();
        assert!(!bytes.windows(KEY.len()).any(|w| w == KEY.as_bytes()), "{}", name.display());
    }
    api.close().await;
}
