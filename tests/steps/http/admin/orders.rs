//! `/v1/admin/orders` and below.

use std::time::Duration;

use serde_json::{Value, json};
use tessera_store::operators::Role;

use super::super::api::{Api, Bought};
use super::super::ask::{Answer, get, post};
use super::super::openapi::{answer, document, matches};

async fn ids(api: &Api, key: &str, query: &str) -> Vec<String> {
    let listed = api.ask(get(format!("/v1/admin/orders?{query}")).token(key)).await.json(200);
    let orders = listed["orders"].as_array().unwrap().iter();
    orders.map(|order| order["id"].as_str().unwrap().to_owned()).collect()
}

async fn replace(api: &Api, key: &str, order: &Bought, body: &Value) -> Answer {
    let path = format!("/v1/admin/orders/{}/replace", order.id());
    api.ask(post(path).token(key).json(body)).await
}

/// Case P116: an order could not be found by its payment's number.
#[tokio::test]
async fn operators_find_orders_by_whatever_a_buyer_knows() {
    let (api, codes) = Api::selling(9).await;
    let (key, document) = (api.key(Role::Viewer).await, document(&api).await);
    let ann = api.buy("ann", &[("card", 2)]).await;
    api.shop.clock.advance(Duration::from_mins(1));
    let begun = "2026-11-30T12:01:00Z";
    let bob = api.place("Bob@shop.example", &[("card", 1)]).await;
    api.shop.pay_with("acme", "T-4711", bob.id(), 1_000, "CNY").await;
    let cid = api.place("cid", &[("card", 1)]).await;
    let all = [&cid, &bob, &ann].map(|order| order.id().to_owned());
    let listed = api.ask(get("/v1/admin/orders").token(&key)).await.json(200);
    matches(&document, answer(&document, "/v1/admin/orders", "get", "200"), &listed, "orders");
    assert_eq!(listed["orders"][2]["lines"][0]["codes"], json!([]), "a list shows no codes");
    for (query, found) in [
        (String::new(), &all[..]),
        ("reference=T-4711".to_owned(), &all[1..2]),
        ("reference=T-4712".to_owned(), &[]),
        ("customer=BOB@shop.example".to_owned(), &all[1..2]),
        (format!("code={}", codes[1]), &all[2..]),
        (format!("code={}", codes[8]), &[]),
        ("code=none".to_owned(), &[]),
        (format!("id={}", all[2]), &all[2..]),
        (format!("code={}&id={}", codes[1], all[0]), &[]),
        ("state=awaiting_payment".to_owned(), &all[..1]),
        (format!("from={begun}"), &all[..2]),
        (format!("to={begun}"), &all[2..]),
        ("stuck=true".to_owned(), &[]),
        ("limit=1".to_owned(), &all[..1]),
        (format!("limit=1&cursor={}", all[0]), &all[1..2]),
    ] {
        assert_eq!(ids(&api, &key, &query).await, found, "{query}");
    }
    for (query, pointer) in [
        ("state=lost", "state"),
        ("from=yesterday", "from"),
        ("to=1", "to"),
        ("id=x", "id"),
        ("customer=", "customer"),
        ("reference=", "reference"),
        ("limit=0", "limit"),
        ("cursor=x", "cursor"),
    ] {
        let wrong = api.ask(get(format!("/v1/admin/orders?{query}")).token(&key)).await;
        assert_eq!(wrong.pointers(), [pointer], "{query}");
    }
    let stuck = api.ask(get("/v1/admin/orders?stuck=maybe").token(&key)).await;
    assert_eq!(stuck.status.as_u16(), 400);
    api.close().await;
}

#[tokio::test]
async fn an_order_is_shown_with_all_that_happened_to_it() {
    let (api, _) = Api::selling(5).await;
    let (key, document) = (api.key(Role::Operator).await, document(&api).await);
    let order = api.buy("ann", &[("card", 2)]).await;
    api.shop.clock.advance(Duration::from_secs(5));
    let body = json!({ "positions": [1], "reason": "the site says it was used" });
    let replaced = replace(&api, &key, &order, &body).await.json(200);
    matches(
        &document,
        answer(&document, "/v1/admin/orders/{id}/replace", "post", "200"),
        &replaced,
        "replace",
    );
    assert_eq!((&replaced["line"], &replaced["positions"]), (&json!(1), &json!([3])));
    api.shop.clock.advance(Duration::from_secs(5));
    let show = async || {
        let shown = api.ask(get(format!("/v1/admin/orders/{}", order.id())).token(&key)).await.json(200);
        matches(&document, answer(&document, "/v1/admin/orders/{id}", "get", "200"), &shown, "order");
        shown
    };
    let shown = show().await;
    let seen = api.show(&order).await;
    for (name, value) in seen.as_object().unwrap() {
        assert_eq!(&shown[name], value, "{name} is what buyers see");
    }
    let words = |shown: &Value| -> Vec<String> {
        let history = shown["history"].as_array().unwrap().iter();
        let word = |h: &Value| match h["what"].as_str().unwrap() {
            "codes" => {
                format!("codes {} {}", h["movement"]["kind"].as_str().unwrap(), h["movement"]["quantity"])
            }
            "operator" => h["action"].as_str().unwrap().to_owned(),
            "money" => format!("money {} {}", h["minor"], h["state"].as_str().unwrap()),
            what => what.to_owned(),
        };
        history.map(word).collect()
    };
    let expected = [
        "placed",
        "paid",
        "issued",
        "money 2000 settled",
        "codes issue 2",
        "codes replacement 1",
        "codes void 1",
        "order.replace",
        "codes.read",
    ];
    assert_eq!(words(&shown), expected);
    let replacement = &shown["history"][7];
    assert_eq!(replacement["reason"], "the site says it was used");
    assert!(replacement["actor"].as_str().unwrap().starts_with("key:"));
    assert_eq!(words(&show().await)[9..], ["codes.read"], "looking at codes is written down");
    let unknown = "/v1/admin/orders/01a22cc3-604b-726c-85a6-a678e1db2110";
    api.ask(get(unknown).token(&key)).await.problem(404, "not-found");
    api.close().await;
}

#[tokio::test]
async fn buyers_see_which_code_was_replaced_and_plain_lists_leave_it_out() {
    let (api, codes) = Api::selling(5).await;
    let key = api.key(Role::Operator).await;
    let order = api.buy("ann", &[("card", 2)]).await;
    replace(&api, &key, &order, &json!({ "positions": [1], "reason": "used" })).await.json(200);
    let shown = api.show(&order).await;
    let marked: Vec<_> =
        shown["lines"][0]["codes"].as_array().unwrap().iter().map(|c| (&c["code"], &c["state"])).collect();
    let (replaced, issued) = (json!("replaced"), json!("issued"));
    let all = codes.iter().map(|code| json!(code)).collect::<Vec<_>>();
    assert_eq!(marked, [(&all[0], &replaced), (&all[1], &issued), (&all[2], &issued)]);
    let list = api.ask(order.codes("")).await.json(200);
    assert_eq!((&list["total"], &list["codes"][0]["state"]), (&json!(3), &replaced));
    let plain = api.ask(order.codes("").header("accept", "text/plain")).await;
    assert_eq!(plain.text(), format!("{}\n{}\n", codes[1], codes[2]));
    api.close().await;
}

#[tokio::test]
async fn what_cannot_be_replaced_is_a_problem_that_names_it() {
    let (api, _) = Api::selling(2).await;
    let key = api.key(Role::Operator).await;
    let order = api.buy("ann", &[("card", 1)]).await;
    let unpaid = api.place("bob", &[("card", 1)]).await;
    let body = |positions: Value| json!({ "positions": positions, "reason": "used" });
    replace(&api, &key, &unpaid, &body(json!([1]))).await.problem(409, "conflict");
    let short = replace(&api, &key, &order, &body(json!([1]))).await.problem(409, "conflict");
    assert!(short["detail"].as_str().unwrap().contains("0 codes are left"), "{short}");
    for (body, pointers) in [
        (body(json!([2])), vec!["/positions"]),
        (body(json!([])), vec!["/positions"]),
        (body(json!([0])), vec!["/positions"]),
        (json!({ "positions": [1], "reason": "used", "line": 2 }), vec!["/line"]),
        (json!({ "line": 0 }), vec!["/line", "/positions", "/reason"]),
    ] {
        assert_eq!(replace(&api, &key, &order, &body).await.pointers(), pointers, "{body}");
    }
    api.close().await;
}
