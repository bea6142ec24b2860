//! `/v1/products` and `/v1/products/{sku}`.

use std::time::Duration;

use tessera_model::money::Money;
use tessera_store::Clock;

use super::api::Api;
use super::ask::{get, keys};

const FIELDS: [&str; 15] = [
    "available",
    "backorders",
    "hold_seconds",
    "kind",
    "max_per_order",
    "name",
    "new_customers_only",
    "note",
    "open_orders_per_customer",
    "per_customer_limit",
    "price",
    "sale_ends_at",
    "sale_starts_at",
    "server_time",
    "sku",
];

#[tokio::test]
async fn a_product_shows_its_public_fields_and_nothing_else() {
    let api = Api::open().await;
    let now = api.shop.clock.now();
    api.shop
        .product("card", |rules| {
            rules.max_per_order = Some(7);
            rules.sale_starts_at = Some(now);
            rules.sale_ends_at = Some(now.plus(Duration::from_hours(1)));
            rules.low_stock_at = Some(3);
        })
        .await;
    let card = api.ask(get("/v1/products/card")).await;
    assert_eq!(card.header("cache-control"), Some("no-store"));
    let card = card.json(200);
    assert_eq!(keys(&card), FIELDS);
    assert_eq!(card["sku"], "card");
    assert_eq!(card["kind"], "codes");
    assert_eq!(card["price"], serde_json::json!({ "minor": 1_000, "currency": "CNY" }));
    assert_eq!(card["hold_seconds"], 900);
    assert_eq!(card["max_per_order"], 7);
    assert_eq!(card["per_customer_limit"], serde_json::Value::Null);
    assert_eq!(card["sale_starts_at"], "2026-11-30T12:00:00Z");
    assert_eq!(card["sale_ends_at"], "2026-11-30T13:00:00Z");
    assert_eq!(card["server_time"], "2026-11-30T12:00:00Z");
    api.close().await;
}

#[tokio::test]
async fn available_follows_claims_and_releases_at_once() {
    let api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    let available = async || api.ask(get("/v1/products/card")).await.json(200)["available"].clone();
    assert_eq!(available().await, 0);
    api.shop.stock("card", 5).await;
    assert_eq!(available().await, 5);
    let bought = api.place("ann", &[("card", 2)]).await;
    assert_eq!(available().await, 3);
    api.ask(bought.cancel()).await.json(200);
    assert_eq!(available().await, 5);
    api.close().await;
}

#[tokio::test]
async fn available_is_never_below_zero() {
    let api = Api::open().await;
    api.shop.product("card", |rules| rules.backorders = true).await;
    api.place("ann", &[("card", 2)]).await;
    assert_eq!(api.ask(get("/v1/products/card")).await.json(200)["available"], 0);
    api.close().await;
}

#[tokio::test]
async fn unknown_inactive_and_unreadable_skus_are_the_same_404() {
    let api = Api::open().await;
    api.shop.product("gone", |rules| rules.active = false).await;
    let gone = api.ask(get("/v1/products/gone")).await;
    gone.problem(404, "not-found");
    for sku in ["none", "%00", "a%2Fb", "a%20b", "%E2%98%83"] {
        let answer = api.ask(get(format!("/v1/products/{sku}"))).await;
        answer.problem(404, "not-found");
        assert_eq!(answer.bytes, gone.bytes, "{sku}");
    }
    api.close().await;
}

#[tokio::test]
async fn the_catalogue_lists_active_products_newest_first_a_page_at_a_time() {
    let api = Api::open().await;
    for n in 0..5 {
        api.shop.clock.advance(Duration::from_millis(1));
        api.shop.product(&format!("card-{n}"), |rules| rules.active = n != 2).await;
    }
    let all = api.ask(get("/v1/products")).await.json(200);
    assert_eq!(keys(&all), ["next", "products", "server_time"]);
    assert_eq!(keys(&all["products"][0]), FIELDS);
    assert_eq!(all["next"], serde_json::Value::Null);

    let (mut skus, mut path) = (vec![], "/v1/products?limit=2".to_owned());
    loop {
        let page = api.ask(get(&path)).await.json(200);
        let products = page["products"].as_array().unwrap();
        assert!(products.len() <= 2);
        skus.extend(products.iter().map(|p| p["sku"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/products?limit=2&cursor={next}");
    }
    assert_eq!(skus, ["card-4", "card-3", "card-1", "card-0"]);
    api.close().await;
}

#[tokio::test]
async fn a_limit_or_cursor_out_of_bounds_is_named() {
    let api = Api::open().await;
    for (query, name) in [("limit=0", "limit"), ("limit=1001", "limit"), ("cursor=x", "cursor")] {
        assert_eq!(api.ask(get(format!("/v1/products?{query}"))).await.pointers(), [name]);
    }
    api.ask(get("/v1/products?limit=many")).await.problem(400, "invalid-request");
    api.close().await;
}

#[tokio::test]
async fn a_free_product_says_so() {
    let api = Api::open().await;
    api.shop.product("gift", |rules| rules.price = Money::new(0, rules.price.currency)).await;
    assert_eq!(api.ask(get("/v1/products/gift")).await.json(200)["price"]["minor"], 0);
    api.close().await;
}
