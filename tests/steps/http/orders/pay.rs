//! `POST /v1/orders/{id}/pay`.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tessera_api::PaymentSettings;

use crate::http::api::{Api, Bought};
use crate::http::ask::{Ask, post};

fn pay_with(bought: &Bought, body: &serde_json::Value) -> Ask {
    post(format!("{}/pay", bought.path)).token(&bought.token).json(body)
}

async fn payments(api: &Api) -> i64 {
    api.shop.number("SELECT count(*) FROM payment").await
}

#[tokio::test]
async fn without_a_wait_the_answer_is_that_it_was_taken() {
    let mut api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", 1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let answer = api.ask(bought.pay()).await;
    let paid = answer.json(202);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert_eq!(paid["status"], "paid");
    assert_eq!(paid["version"], 2);
    assert_eq!(paid["paid_at"], "2026-11-30T12:00:00Z");
    assert_eq!(paid["payments"][0]["state"], "settled");
    api.start_issuer().await;
    assert_eq!(api.ask(bought.get().wait(30)).await.json(200)["status"], "issued");
    api.close().await;
}

#[tokio::test]
async fn with_a_wait_the_codes_are_in_the_answer() {
    let (api, codes) = Api::selling(2).await;
    let bought = api.place("ann", &[("card", 2)]).await;
    let answer = api.ask(bought.pay().wait(30)).await;
    let paid = answer.json(200);
    assert_eq!(answer.header("retry-after"), None);
    assert_eq!(paid["status"], "issued");
    let got: Vec<_> = paid["lines"][0]["codes"].as_array().unwrap().iter().map(|c| &c["code"]).collect();
    assert_eq!(got, [&json!(codes[0]), &json!(codes[1])]);
    api.close().await;
}

#[tokio::test]
async fn a_wait_that_runs_out_leaves_the_order_paid() {
    let api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", 1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    for _ in 0..2 {
        assert_eq!(api.ask(bought.pay().wait(1)).await.json(202)["status"], "paid");
    }
    assert_eq!(payments(&api).await, 1);
    api.shop.leftover_is_fine();
    api.close().await;
}

/// Case P73: a reload of the payment page charged twice.
#[tokio::test]
async fn paying_again_is_the_same_answer_and_no_second_charge() {
    let (mut api, _) = Api::selling_later(1).await;
    let unissued = api.place("ann", &[("card", 1)]).await;
    for _ in 0..20 {
        assert_eq!(api.ask(unissued.pay()).await.json(202)["version"], 2);
    }
    assert_eq!(payments(&api).await, 1);
    api.start_issuer().await;
    let issued = api.ask(unissued.pay().wait(30)).await.json(200);
    let bought = Bought { order: issued, ..unissued };
    for n in 0..20 {
        let ask = if n % 2 == 0 { bought.pay() } else { bought.pay().wait(30) };
        assert_eq!(api.ask(ask).await.json(200), bought.order);
    }
    assert_eq!(payments(&api).await, 1);
    api.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_payments_at_once_are_one() {
    let (api, _) = Api::selling(3).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let asks = (0..50).map(|n| api.ask(if n % 2 == 0 { bought.pay() } else { bought.pay().wait(30) }));
    for answer in join_all(asks).await {
        assert!(matches!(answer.status.as_u16(), 200 | 202), "{}", answer.text());
    }
    let issued = api.ask(bought.get().wait(30)).await.json(200);
    assert_eq!(issued["payments"].as_array().unwrap().len(), 1);
    assert_eq!(issued["lines"][0]["codes"].as_array().unwrap().len(), 1);
    assert_eq!(payments(&api).await, 1);
    assert_eq!(api.shop.shelf("card").await.available(), 2);
    api.close().await;
}

#[tokio::test]
async fn an_order_that_was_cancelled_or_expired_cannot_be_paid() {
    let (api, _) = Api::selling(2).await;
    let cancelled = api.place("ann", &[("card", 1)]).await;
    api.ask(cancelled.cancel()).await.json(200);
    let expired = api.place("ann", &[("card", 1)]).await;
    api.shop.clock.advance(Duration::from_mins(15));
    api.shop.expire_due().await;
    for (bought, status) in [(&cancelled, "cancelled"), (&expired, "expired")] {
        let answer = api.ask(bought.pay().wait(30)).await;
        assert!(answer.problem(409, "order-not-payable")["detail"].as_str().unwrap().contains(status));
        assert_eq!(api.show(bought).await["status"], status);
    }
    assert_eq!(payments(&api).await, 0);
    api.close().await;
}

#[tokio::test]
async fn an_unknown_provider_is_named_as_a_fault() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    for (body, pointer) in [
        (json!({ "provider": "hmac" }), "/provider"),
        (json!({ "provider": "stripe" }), "/provider"),
        (json!({ "provider": "TEST" }), "/provider"),
        (json!({ "provider": 1 }), "/provider"),
        (json!({}), "/provider"),
        (json!({ "provider": "test", "amount": 0 }), "/amount"),
        (json!(["test"]), ""),
    ] {
        assert_eq!(api.ask(pay_with(&bought, &body)).await.pointers(), [pointer], "{body}");
    }
    assert_eq!(api.show(&bought).await["status"], "awaiting_payment");
    api.close().await;
}

#[tokio::test]
async fn the_test_provider_is_unknown_where_it_is_off() {
    let api = Api::with(|parts| parts.payments = PaymentSettings::default()).await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", 1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    assert_eq!(api.ask(bought.pay()).await.pointers(), ["/provider"]);
    assert_eq!(payments(&api).await, 0);
    api.close().await;
}

#[tokio::test]
async fn a_free_order_needs_no_payment_and_takes_none() {
    let mut api = Api::open().await;
    api.shop.product("gift", |rules| rules.price.minor = 0).await;
    api.shop.stock("gift", 1).await;
    api.start_issuer().await;
    let bought = api.place("ann", &[("gift", 1)]).await;
    assert_eq!(api.ask(bought.pay().wait(30)).await.json(200)["payments"], json!([]));
    assert_eq!(payments(&api).await, 0);
    api.close().await;
}

#[tokio::test]
async fn a_body_that_cannot_be_read_pays_nothing() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let path = format!("{}/pay", bought.path);
    let to = || post(&path).token(&bought.token);
    api.ask(to().raw("{\"provider\":\"test\"}")).await.problem(415, "unsupported-media-type");
    api.ask(to().header("content-type", "application/json").raw("{")).await.problem(400, "invalid-request");
    assert_eq!(api.show(&bought).await["status"], "awaiting_payment");
    api.close().await;
}

/// Case P76: more was paid for than there was, and handing out broke down after the order was marked paid.
#[tokio::test]
async fn stock_that_arrives_completes_a_backorder_that_was_paid() {
    let mut api = Api::open().await;
    let product = api.shop.product("card", |rules| rules.backorders = true).await;
    api.shop.stock("card", 3).await;
    api.start_issuer().await;
    let bought = api.place("ann", &[("card", 5)]).await;
    let waited = api.ask(bought.pay().wait(1)).await.json(202);
    assert_eq!((&waited["status"], &waited["lines"][0]["codes"]), (&json!("backordered"), &json!([])));
    assert_eq!(waited["payments"][0]["amount"]["minor"], 5_000);
    api.shop.stock("card", 2).await;
    api.shop.publish_stock(product).await;
    let issued = api.ask(bought.get().wait(30)).await.json(200);
    assert_eq!(issued["lines"][0]["codes"].as_array().unwrap().len(), 5);
    api.close().await;
}
