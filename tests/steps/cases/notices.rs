//! What gateways send, and how they send it.

use std::time::Duration;

use serde_json::{Value, json};
use tessera_model::ids::NoticeId;
use tessera_model::text::Provider;
use tessera_store::Clock;
use tessera_store::payments::Notice;

use crate::http::api::{Api, Bought};
use crate::http::ask::{Answer, ask, get, post};
use crate::http::payments::notice::{PATH, one_placed, outcome, payments, settled, signature_of, signed};

/// What is counted of refused notices for a reason.
async fn counted(api: &Api, reason: &str) -> Option<u64> {
    let line = format!("tessera_notices_refused_total{{outcome=\"{reason}\"}} ");
    let metrics = api.ask(get("/metrics")).await;
    metrics.text().lines().find_map(|l| l.strip_prefix(&line)).map(|count| count.parse().unwrap())
}

/// The problem of a notice that was neither taken nor lost: counted, and kept with what was told.
async fn refused(api: &Api, answer: Answer, problem: (u16, &str), reason: &str, told: &str) {
    let before = counted(api, reason).await.unwrap();
    answer.problem(problem.0, problem.1);
    let notices = api.shop.notices().await;
    assert_eq!(notices.iter().filter(|kept| kept.reason == reason).count(), usize::try_from(before).unwrap());
    assert!(notices.iter().any(|kept| kept.reason == reason && kept.body == told.as_bytes()), "{told}");
}

/// Case P52: the gateway told by GET, the path took only POST, and nobody noticed.
#[tokio::test]
async fn a_notice_that_is_not_told_as_json_by_post_is_refused_counted_and_kept() {
    let (api, bought) = one_placed(1).await;
    let told = format!("out_trade_no={}&total_fee=10.00&sign=9f86d0", bought.id());
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let answer = api.ask(ask(method, format!("{PATH}?{told}"))).await;
        assert_eq!(answer.header("allow"), Some("POST"));
        refused(&api, answer, (405, "method-not-allowed"), "wrong method", &told).await;
    }
    assert_eq!(counted(&api, "wrong method").await, Some(4));
    let form = "application/x-www-form-urlencoded";
    for kind in [form, "multipart/form-data; boundary=x", "text/plain", "application/xml"] {
        let answer = api.ask(post(PATH).header("content-type", kind).raw(told.as_str())).await;
        let problem = (415, "unsupported-media-type");
        refused(&api, answer, problem, "wrong content type", &told).await;
    }
    assert_eq!((payments(&api).await, api.show(&bought).await["version"].as_i64()), (0, Some(1)));
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "paid");
    api.close().await;
}

/// Keeps a thousand refused notices, as many as are kept for a reason that strangers can cause.
async fn a_thousand_kept(api: &Api, reason: &str) {
    let shop = &api.shop;
    let kept = (0..1_000).map(|_| Notice {
        id: NoticeId::new(shop.clock.now(), shop.entropy.bytes()),
        provider: Provider::parse("hmac").unwrap(),
        reason: reason.to_owned(),
        body: vec![],
        received_at: shop.clock.now(),
    });
    let mut tx = shop.store.begin().await.unwrap();
    tx.notices_put(&kept.collect::<Vec<_>>()).await.unwrap();
    tx.commit().await.unwrap();
}

/// Case P52: what strangers send is kept, and cannot fill the disk.
#[tokio::test]
async fn of_notices_that_anybody_may_send_the_last_thousand_of_a_reason_are_kept() {
    let (api, _) = one_placed(1).await;
    let json = || post(PATH).header("content-type", "application/json");
    let sent = [
        ("wrong method", get(format!("{PATH}?last"))),
        ("wrong content type", post(PATH).header("content-type", "text/plain").raw("last")),
        ("bad signature", json().raw("last")),
        ("malformed", signed(&api, "last")),
    ];
    for (reason, ask) in sent {
        a_thousand_kept(&api, reason).await;
        api.shop.clock.advance(Duration::from_secs(1));
        assert!(api.ask(ask).await.status.is_client_error());
        let kept = api.shop.number(&format!("SELECT count(*) FROM notice WHERE reason = '{reason}'")).await;
        // What has a good signature is nobody's but the provider's: all of it is kept.
        assert_eq!(kept, if reason == "malformed" { 1_001 } else { 1_000 }, "{reason}");
        assert!(api.shop.notices().await.iter().any(|n| n.reason == reason && n.body == b"last"), "{reason}");
    }
    api.close().await;
}

/// Case P52: what is good is taken however its kind is written, and where nobody wrote it.
#[tokio::test]
async fn a_good_notice_is_taken_whatever_kind_of_json_it_says_it_is() {
    let (api, bought) = one_placed(1).await;
    let (at, body) = ("1", settled("T-1", bought.id(), 1_000).to_string());
    let good = || {
        let ask =
            post(PATH).header("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek").header("webhook-timestamp", at);
        ask.header("webhook-signature", signature_of(at, body.as_bytes())).raw(body.as_str())
    };
    assert_eq!(api.ask(good()).await.json(200)["outcome"], "paid");
    for kind in ["application/json", "Application/JSON; charset=utf-8", "application/cloudevents+json"] {
        let answer = api.ask(good().header("content-type", kind)).await;
        assert_eq!(answer.json(200)["outcome"], "duplicate", "{kind}");
    }
    api.close().await;
}

/// An order of 63.00 CNY, which is 6300 of the minor unit.
async fn sixty_three() -> (Api, Bought) {
    let api = Api::open().await;
    api.shop.product("card", |rules| rules.price.minor = 6_300).await;
    api.shop.stock("card", 1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    api.shop.leftover_is_fine();
    (api, bought)
}

/// Case P62: 63.0 was another amount than 63.00. Here an amount is a whole number of the minor unit, which the field's
/// name says; another way to write it is refused by name instead of being understood.
#[tokio::test]
async fn an_amount_is_of_the_minor_unit_and_is_never_taken_for_the_major_one() {
    let (api, bought) = sixty_three().await;
    let written = |minor: &str| {
        let body = settled("T-1", bought.id(), 7_777).to_string();
        signed(&api, body.replace("7777", minor))
    };
    for minor in ["\"63\"", "\"63.0\"", "\"63.00\"", "63.0", "63.00", "6300.0", "\"6300\"", "6.3e3"] {
        let answer = api.ask(written(minor)).await;
        assert_eq!(answer.pointers(), ["/amount/minor"], "{minor}");
    }
    let major = |field: &str, amount: Value| {
        let mut body = settled("T-1", bought.id(), 6_300);
        body["amount"] = json!({ field: amount, "currency": "CNY" });
        signed(&api, body.to_string())
    };
    for field in ["value", "major", "total", "amount"] {
        let pointers = api.ask(major(field, json!("63.00"))).await.pointers();
        assert!(pointers.contains(&"/amount/minor".to_owned()), "{pointers:?}");
    }
    assert_eq!(payments(&api).await, 0);
    assert_eq!(outcome(&api, &settled("T-2", bought.id(), 63)).await, "short", "63 of the minor unit");
    assert_eq!(api.show(&bought).await["status"], "awaiting_payment");
    assert_eq!(outcome(&api, &settled("T-3", bought.id(), 6_300 - 63)).await, "paid");
    api.close().await;
}
