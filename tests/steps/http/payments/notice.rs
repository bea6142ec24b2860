//! Notices as the `hmac` provider sends them.

use serde_json::{Value, json};
use tessera_api::WebhookSecret;
use tessera_store::Clock;

use crate::http::api::{Api, Bought, SECRET};
use crate::http::ask::{Ask, post};

/// Where notices go.
pub(crate) const PATH: &str = "/v1/payments/hmac/notify";

/// An id of a message; providers repeat it with a notice that they repeat.
const MESSAGE: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";

/// The signature of a body sent now.
pub(crate) fn signature(id: &str, at: &str, body: &[u8]) -> String {
    WebhookSecret::parse(SECRET).unwrap().sign(id, at, body)
}

/// A notice with these bytes, signed as of `at`.
pub(crate) fn signed_at(at: &str, body: &[u8]) -> Ask {
    bare(at, body).header("webhook-signature", signature(MESSAGE, at, body))
}

/// The same without a signature.
pub(crate) fn bare(at: &str, body: &[u8]) -> Ask {
    let ask = post(PATH).header("content-type", "application/json").raw(body);
    ask.header("webhook-id", MESSAGE).header("webhook-timestamp", at)
}

/// The message's id, for signatures made by hand.
pub(crate) fn signature_of(at: &str, body: &[u8]) -> String {
    signature(MESSAGE, at, body)
}

/// The shop's time in seconds, as a notice states it.
pub(crate) fn now(api: &Api) -> String {
    (api.shop.clock.now().micros() / 1_000_000).to_string()
}

/// A notice signed now.
pub(crate) fn signed(api: &Api, body: impl AsRef<[u8]>) -> Ask {
    signed_at(&now(api), body.as_ref())
}

/// That a payment settled.
pub(crate) fn settled(reference: &str, order: &str, minor: i64) -> Value {
    json!({ "type": "payment.settled", "reference": reference, "order_id": order,
        "amount": { "minor": minor, "currency": "CNY" }, "paid_at": "2026-11-30T12:00:00Z" })
}

/// What became of a notice that was taken.
pub(crate) async fn outcome(api: &Api, body: &Value) -> String {
    let answer = api.ask(signed(api, body.to_string())).await.json(200);
    assert_eq!(crate::http::ask::keys(&answer), ["outcome"]);
    answer["outcome"].as_str().unwrap().to_owned()
}

/// A shop with `count` codes that does not issue, and an order of one of 10.00 CNY.
pub(crate) async fn one_placed(count: usize) -> (Api, Bought) {
    let api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", count).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    api.shop.leftover_is_fine();
    (api, bought)
}

/// How many payments there are.
pub(crate) async fn payments(api: &Api) -> i64 {
    api.shop.number("SELECT count(*) FROM payment").await
}
