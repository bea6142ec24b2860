//! `/healthz`, `/readyz` and `/metrics`.

use std::sync::Arc;

use http_body_util::BodyExt;
use serde_json::{Value, json};
use tessera_api::{Metrics, Ops, Reading, ops_router};
use tessera_testbed::Shop;
use tokio::sync::watch;
use tower::ServiceExt;

use super::api::{Api, order};
use super::ask::{get, keys};

#[tokio::test]
async fn a_process_lives_even_when_its_store_is_away() {
    let api = Api::open().await;
    api.shop.faults.away();
    assert_eq!(api.ask(get("/healthz")).await.json(200), json!({ "alive": true }));
    api.close().await;
}

#[tokio::test]
async fn ready_names_what_is_not() {
    let (issuer, is_ready) = watch::channel(false);
    let api = Api::with(|parts| parts.ops.readiness = Arc::new(vec![("issuer", is_ready)])).await;
    let checks = |database: bool, issuer: bool| -> Value {
        json!({ "ready": database && issuer, "checks": [
            { "name": "database", "ok": database }, { "name": "issuer", "ok": issuer } ] })
    };
    assert_eq!(api.ask(get("/readyz")).await.json(503), checks(true, false));
    issuer.send_replace(true);
    assert_eq!(api.ask(get("/readyz")).await.json(200), checks(true, true));
    api.shop.faults.away();
    assert_eq!(api.ask(get("/readyz")).await.json(503), checks(false, true));
    api.shop.faults.clear();
    assert_eq!(api.ask(get("/readyz")).await.json(200), checks(true, true));
    api.close().await;
}

#[tokio::test]
async fn ready_has_exactly_these_fields() {
    let api = Api::open().await;
    let ready = api.ask(get("/readyz")).await.json(200);
    assert_eq!(keys(&ready), ["checks", "ready"]);
    assert_eq!(keys(&ready["checks"][0]), ["name", "ok"]);
    api.close().await;
}

#[tokio::test]
async fn a_broker_that_is_away_does_not_make_the_api_unready() {
    let api = Api::open().await;
    api.shop.broker.stop().await;
    api.ask(get("/readyz")).await.json(200);
    api.close().await;
}

#[tokio::test]
async fn operation_is_served_by_itself_with_what_others_count() {
    let shop = Shop::open().await;
    let messages = Reading { name: "messages_published", help: "Messages", read: Box::new(|| 7) };
    let ops = Ops {
        store: Arc::clone(&shop.store),
        readiness: Arc::default(),
        metrics: Metrics::new(vec![messages]),
    };
    let ask = |path: &str| ops_router(ops.clone()).oneshot(get(path).build());
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(ask(path).await.unwrap().status(), 200, "{path}");
    }
    assert_eq!(ask("/v1/products").await.unwrap().status(), 404);
    let text = ask("/metrics").await.unwrap().into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert!(text.lines().any(|line| line == "tessera_messages_published_total 7"), "{text}");
    shop.close().await;
}

#[tokio::test]
async fn counters_count_and_are_not_labelled_by_order_or_customer() {
    let (api, _) = Api::selling(2).await;
    let bought = api.buy("a-customer", &[("card", 1)]).await;
    api.ask(order("a-customer", &[("card", 9)])).await.problem(409, "sold-out");
    let answer = api.ask(get("/metrics")).await;
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    let text = answer.text();
    for line in [
        "tessera_orders_total{outcome=\"placed\"} 1",
        "tessera_orders_total{outcome=\"refused\"} 1",
        "tessera_payments_total{outcome=\"paid\"} 1",
        "tessera_waiting_orders 0",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in {text}");
    }
    assert!(text.ends_with("# EOF\n"));
    for private in ["a-customer", bought.id(), bought.token.as_str()] {
        assert!(!text.contains(private));
    }
    api.close().await;
}
