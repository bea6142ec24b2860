//! `POST /v1/orders`, accepted.

use serde_json::{Value, json};
use tessera_model::money::{Currency, Money};
use tessera_model::text::{Note, ProductName};

use crate::http::api::{Api, Bought, order};
use crate::http::ask::{get, keys, post};

#[tokio::test]
async fn a_new_order_has_a_place_a_token_and_a_version() {
    let (api, _) = Api::selling(3).await;
    let answer = api.ask(order("u-1", &[("card", 2)])).await;
    let placed = answer.json(201);
    assert_eq!(answer.header("location"), placed["links"]["self"].as_str());
    assert_eq!(answer.header("etag"), Some("W/\"1\""));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert!(placed["token"].as_str().unwrap().len() >= 20);
    let mut shown = api.show(&Bought::of(&placed)).await;
    shown["token"] = placed["token"].clone();
    assert_eq!(shown, placed, "an order is shown as it was placed");
    api.close().await;
}

#[tokio::test]
async fn a_new_order_has_exactly_these_fields() {
    let (api, _) = Api::selling(3).await;
    let placed = api.place("u-1", &[("card", 2)]).await.order;
    let fields = [
        "amount",
        "created_at",
        "customer",
        "hold_expires_at",
        "hold_seconds_left",
        "id",
        "lines",
        "links",
        "payments",
        "server_time",
        "status",
        "token",
        "version",
    ];
    assert_eq!(keys(&placed), fields);
    assert_eq!(keys(&placed["customer"]), ["id"]);
    assert_eq!(keys(&placed["lines"][0]), ["codes", "name", "note", "quantity", "sku", "unit_price"]);
    assert_eq!(keys(&placed["links"]), ["cancel", "codes", "events", "pay", "self"]);
    assert_eq!(placed["status"], "awaiting_payment");
    assert_eq!(placed["version"], 1);
    assert_eq!(placed["amount"], json!({ "minor": 2_000, "currency": "CNY" }));
    assert_eq!(placed["lines"][0]["unit_price"], json!({ "minor": 1_000, "currency": "CNY" }));
    assert_eq!(placed["lines"][0]["codes"], json!([]));
    assert_eq!(placed["payments"], json!([]));
    assert_eq!(placed["created_at"], "2026-11-30T12:00:00Z");
    assert_eq!(placed["hold_expires_at"], "2026-11-30T12:15:00Z");
    assert_eq!(placed["hold_seconds_left"], 900);
    let path = format!("/v1/orders/{}", placed["id"].as_str().unwrap());
    assert_eq!(
        placed["links"],
        json!({ "self": path, "codes": format!("{path}/codes"), "events": format!("{path}/events"),
            "pay": format!("{path}/pay"), "cancel": format!("{path}/cancel") })
    );
    api.close().await;
}

#[tokio::test]
async fn an_issued_order_has_exactly_these_fields() {
    let (api, codes) = Api::selling(1).await;
    let issued = api.buy("u-1", &[("card", 1)]).await.order;
    let fields = [
        "amount",
        "created_at",
        "customer",
        "id",
        "issued_at",
        "lines",
        "links",
        "paid_at",
        "payments",
        "server_time",
        "status",
        "version",
    ];
    assert_eq!(keys(&issued), fields);
    let code = &issued["lines"][0]["codes"][0];
    assert_eq!(*code, json!({ "code": codes[0], "position": 1, "state": "issued" }));
    let payment = json!({ "state": "settled", "amount": { "minor": 1_000, "currency": "CNY" },
        "received_at": "2026-11-30T12:00:00Z" });
    assert_eq!(issued["payments"], json!([payment]));
    assert_eq!(issued["paid_at"], "2026-11-30T12:00:00Z");
    assert_eq!(issued["issued_at"], "2026-11-30T12:00:00Z");
    api.close().await;
}

#[tokio::test]
async fn a_customer_is_returned_as_given_and_an_address_not_at_all() {
    let (api, _) = Api::selling(3).await;
    for id in ["A@x.com ", "用户一", "u/1?#", "𝓤", " ａ "] {
        let body = json!({ "customer": { "id": id, "email": "buyer@example.com" },
            "lines": [{ "sku": "card", "quantity": 1 }] });
        let answer = api.ask(post("/v1/orders").json(&body)).await;
        let bought = Bought::of(&answer.json(201));
        assert_eq!(bought.order["customer"], json!({ "id": id }));
        assert!(!answer.text().contains("buyer@example.com"));
        api.ask(bought.cancel()).await.json(200);
    }
    api.close().await;
}

#[tokio::test]
async fn lines_of_one_sku_are_merged_where_it_is_first_mentioned() {
    let (api, _) = Api::selling(9).await;
    api.shop.product("pass", |_| ()).await;
    api.shop.stock("pass", 1).await;
    let bought = api.place("ann", &[("card", 1), ("pass", 1), ("card", 3)]).await;
    let lines = bought.order["lines"].as_array().unwrap();
    let lines: Vec<(&Value, &Value)> = lines.iter().map(|l| (&l["sku"], &l["quantity"])).collect();
    assert_eq!(lines, [(&json!("card"), &json!(4)), (&json!("pass"), &json!(1))]);
    assert_eq!(bought.order["amount"]["minor"], 5_000);
    api.close().await;
}

#[tokio::test]
async fn null_is_the_same_as_no_address() {
    let (api, _) = Api::selling(1).await;
    let body =
        json!({ "customer": { "id": "ann", "email": null }, "lines": [{ "sku": "card", "quantity": 1 }] });
    api.ask(post("/v1/orders").json(&body)).await.json(201);
    api.close().await;
}

#[tokio::test]
async fn a_free_order_is_paid_as_it_is_placed_and_issued_without_a_payment() {
    let mut api = Api::open().await;
    api.shop.product("gift", |rules| rules.price = Money::new(0, rules.price.currency)).await;
    let codes = api.shop.stock("gift", 1).await;
    let bought = api.place("ann", &[("gift", 1)]).await;
    assert_eq!(bought.order["status"], "paid");
    assert_eq!(bought.order["paid_at"], "2026-11-30T12:00:00Z");
    assert_eq!(bought.order["hold_expires_at"], Value::Null);
    assert_eq!(bought.order["payments"], json!([]));
    api.start_issuer().await;
    let issued = api.ask(bought.get().wait(30)).await.json(200);
    assert_eq!(issued["lines"][0]["codes"][0]["code"], codes[0].as_str());
    assert_eq!(issued["payments"], json!([]));
    api.close().await;
}

/// Case P86: the usage note was not shown with the code, and a later edit changed old orders.
#[tokio::test]
async fn an_order_keeps_the_name_note_and_price_it_was_placed_with() {
    let mut api = Api::open().await;
    api.shop.product("card", |rules| rules.note = Note::parse("redeem at a.example\nonce").unwrap()).await;
    api.shop.stock("card", 2).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    api.shop
        .product("card", |rules| {
            rules.name = ProductName::parse("Another name").unwrap();
            rules.note = Note::parse("another note").unwrap();
            rules.price = Money::new(9_999, Currency::parse("CNY").unwrap());
        })
        .await;
    api.start_issuer().await;
    let paid = api.ask(bought.pay().wait(30)).await.json(200);
    let line = &paid["lines"][0];
    assert_eq!((&line["name"], &line["note"]), (&json!("card"), &json!("redeem at a.example\nonce")));
    assert_eq!(paid["amount"]["minor"], 1_000);
    assert_eq!(paid["payments"][0]["amount"]["minor"], 1_000);
    assert_eq!(api.place("bob", &[("card", 1)]).await.order["amount"]["minor"], 9_999);
    api.close().await;
}

#[tokio::test]
async fn the_last_codes_can_be_bought_exactly_and_then_none() {
    let (api, codes) = Api::selling(7).await;
    let bought = api.buy("ann", &[("card", 7)]).await;
    assert_eq!(bought.order["lines"][0]["codes"].as_array().unwrap().len(), codes.len());
    api.ask(order("bob", &[("card", 1)])).await.problem(409, "sold-out");
    api.close().await;
}

/// Case P7: the last unit was sold twice by checkouts at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_buyers_of_the_last_code_make_one_order() {
    let (api, _) = Api::selling(1).await;
    let orders = (0..200).map(|n| api.ask(order(&format!("u-{n}"), &[("card", 1)])));
    let answers = futures_util::future::join_all(orders).await;
    let (placed, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|a| a.status.as_u16() == 201);
    assert_eq!(placed.len(), 1);
    for answer in refused {
        answer.problem(409, "sold-out");
    }
    assert_eq!(api.shop.number("SELECT count(*) FROM orders").await, 1);
    assert_eq!(api.shop.shelf("card").await.available(), 0);
    assert_eq!(api.ask(get("/v1/products/card")).await.json(200)["available"], 0);
    api.close().await;
}
