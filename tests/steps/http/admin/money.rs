//! What operators do about money over HTTP.

use serde_json::{Value, json};
use tessera_store::operators::Role;

use super::super::api::{Api, Bought};
use super::super::ask::{Ask, get, post};
use super::super::openapi::{answer, document, matches};
use super::super::payments::notice::{one_placed, outcome, settled, signed};

/// A shop with an order of 10.00 CNY, an operator's key, and the interface's document.
struct Office {
    api: Api,
    bought: Bought,
    key: String,
    document: Value,
}

impl Office {
    async fn open() -> Self {
        let (api, bought) = one_placed(1).await;
        let (key, document) = (api.key(Role::Operator).await, document(&api).await);
        Self { api, bought, key, document }
    }

    fn deed(&self, deed: &str) -> Ask {
        let path = format!("/v1/admin/orders/{}/{deed}", self.bought.id());
        post(path).token(&self.key).json(&json!({ "reason": "the buyer asked" }))
    }

    async fn done(&self, deed: &str) -> Value {
        let done = self.api.ask(self.deed(deed)).await.json(200);
        let path = format!("/v1/admin/orders/{{id}}/{deed}");
        matches(&self.document, answer(&self.document, &path, "post", "200"), &done, deed);
        done["status"].clone()
    }

    async fn list(&self, path: &str) -> Value {
        let listed = self.api.ask(get(path.to_owned()).token(&self.key)).await.json(200);
        let bare = path.split('?').next().unwrap();
        matches(&self.document, answer(&self.document, bare, "get", "200"), &listed, path);
        listed
    }
}

/// Case P37: a late payment was answered "fail", and nobody could complete its order. It is taken, and accepted in one
/// request as soon as there is stock.
#[tokio::test]
async fn a_late_payment_without_stock_is_accepted_once_there_is_some() {
    let mut office = Office::open().await;
    let api = &office.api;
    api.shop.cancel(office.bought.order_id()).await;
    let other = api.place("bob", &[("card", 1)]).await;
    assert_eq!(outcome(api, &settled("T-1", office.bought.id(), 1_000)).await, "refund_due");
    api.ask(office.deed("accept")).await.problem(409, "sold-out");
    api.shop.stock("card", 1).await;
    assert_eq!(office.done("accept").await, "paid");
    assert_eq!(outcome(api, &settled("T-2", other.id(), 1_000)).await, "paid");
    office.api.start_issuer().await;
    let orders = [office.bought.order_id(), other.order_id()];
    office.api.shop.until(&orders, tessera_model::order::OrderStatus::Issued).await;
    office.api.close().await;
}

#[tokio::test]
async fn an_order_is_refunded_and_its_payment_confirmed_as_paid_back() {
    let office = Office::open().await;
    assert_eq!(outcome(&office.api, &settled("T-1", office.bought.id(), 1_300)).await, "over");
    assert_eq!(office.done("refund").await, "refund_due");
    assert_eq!(office.done("refund").await, "refund_due");
    let listed = office.list("/v1/admin/payments?state=refund_due&limit=1").await;
    assert_eq!(listed["payments"][0]["portions"], json!([{ "state": "refund_due", "minor": 1_300 }]));
    assert_eq!(listed["next"], listed["payments"][0]["id"]);
    let path = format!("/v1/admin/payments/{}/refunded", listed["payments"][0]["id"].as_str().unwrap());
    let confirm = |body: Value| office.api.ask(post(path.clone()).token(&office.key).json(&body));
    for _ in 0..2 {
        let body = confirm(json!({ "reference": "B-1", "minor": 300 })).await.json(200);
        let shape = answer(&office.document, "/v1/admin/payments/{id}/refunded", "post", "200");
        matches(&office.document, shape, &body, "refunded");
    }
    confirm(json!({ "reference": "B-1", "minor": 1 })).await.problem(409, "reference-reused");
    confirm(json!({ "reference": "B-2", "minor": 1_001 })).await.problem(409, "not-refund-due");
    assert_eq!(confirm(json!({ "minor": 0, "more": 1 })).await.pointers(), ["/reference", "/minor", "/more"]);
    confirm(json!({ "reference": "B-2", "reason": "seen at the bank" })).await.json(200);
    assert_eq!(office.api.show(&office.bought).await["status"], "refunded");
    let by_key = "SELECT count(*) FROM audit WHERE actor LIKE 'key:%' AND action IN ('order.refund', 'payment.refunded')";
    assert_eq!(office.api.shop.number(by_key).await, 3);
    office.api.close().await;
}

#[tokio::test]
async fn an_order_is_cancelled_for_its_buyer_with_a_reason() {
    let office = Office::open().await;
    let bare = post(format!("/v1/admin/orders/{}/cancel", office.bought.id())).token(&office.key);
    assert_eq!(office.api.ask(bare.json(&json!({}))).await.pointers(), ["/reason"]);
    office.api.ask(office.deed("refund")).await.problem(409, "order-not-refundable");
    assert_eq!(office.done("cancel").await, "cancelled");
    assert_eq!(office.done("cancel").await, "cancelled");
    office.api.ask(office.deed("accept")).await.problem(409, "order-not-acceptable");
    office.api.close().await;
}

/// Case P70: every event that is refused is listed to operators with its reason and raw body, in the answer's own second.
#[tokio::test]
async fn refused_notices_are_listed_with_reason_and_body() {
    let office = Office::open().await;
    let bodies = [r#"{"type":"payment.settled"}"#, "not JSON", r#"["array"]"#];
    for body in bodies {
        assert!(office.api.ask(signed(&office.api, body)).await.status.is_client_error());
        office.api.shop.clock.advance(std::time::Duration::from_millis(1));
    }
    let listed = office.list("/v1/admin/notices").await;
    let notices = listed["notices"].as_array().unwrap();
    let said: Vec<&str> = notices.iter().map(|n| n["body"].as_str().unwrap()).rev().collect();
    assert_eq!(said, bodies);
    assert!(notices.iter().all(|n| n["reason"] == "malformed"));
    let page = office.list("/v1/admin/notices?limit=2").await;
    let rest = office.list(&format!("/v1/admin/notices?cursor={}", page["next"].as_str().unwrap())).await;
    assert_eq!(rest["notices"], json!([notices[2]]));
    office.api.close().await;
}
