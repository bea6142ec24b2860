//! Notices whose signature is not good: refused, and kept so that an operator sees why nothing was paid.

use std::time::Duration;

use super::notice::{bare, now, one_placed, outcome, payments, settled, signature, signature_of, signed};
use crate::http::ask::{get, post};

#[tokio::test]
async fn a_bad_signature_is_refused_and_kept_with_its_reason() {
    let (api, bought) = one_placed(1).await;
    let body = settled("T-1", bought.id(), 1_000).to_string();
    let forged = bare(&now(&api), body.as_bytes()).header("webhook-signature", "v1,AAAA");
    api.ask(forged).await.problem(401, "unauthorized");
    let notices = api.shop.notices().await;
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].reason, "bad signature");
    assert_eq!(notices[0].body, body.as_bytes());
    assert_eq!(notices[0].provider.as_str(), "hmac");
    assert_eq!(payments(&api).await, 0);
    assert_eq!(api.show(&bought).await["version"], 1);
    api.close().await;
}

#[tokio::test]
async fn nothing_but_the_signature_of_all_three_parts_is_good() {
    let (api, bought) = one_placed(1).await;
    let (at, body) = (now(&api), settled("T-1", bought.id(), 1_000).to_string());
    let good = signature_of(&at, body.as_bytes());
    let bare = || bare(&at, body.as_bytes());
    let other_id = signature("msg_other", &at, body.as_bytes());
    let other_time = signature_of("1", body.as_bytes());
    let other_body = signature_of(&at, b"{}");
    let proof = good.strip_prefix("v1,").unwrap();
    let (other_version, cut) = (format!("v1a,{proof}"), good[..good.len() - 4].to_owned());
    for bad in ["", "v1,", "v1", proof, &other_version, &cut, &other_id, &other_time, &other_body] {
        api.ask(bare().header("webhook-signature", bad)).await.problem(401, "unauthorized");
    }
    api.ask(bare()).await.problem(401, "unauthorized");
    let no_headers = post(super::notice::PATH).raw(body.clone());
    api.ask(no_headers.header("webhook-signature", &good)).await.problem(401, "unauthorized");
    assert_eq!(payments(&api).await, 0);
    api.ask(bare().header("webhook-signature", &good)).await.json(200);
    api.close().await;
}

#[tokio::test]
async fn one_good_signature_of_several_is_enough() {
    let (api, bought) = one_placed(1).await;
    let (at, body) = (now(&api), settled("T-1", bought.id(), 1_000).to_string());
    let several = format!("v1,AAAA v1a,x v1,not-base64! {} v2,y", signature_of(&at, body.as_bytes()));
    let ask = bare(&at, body.as_bytes()).header("webhook-signature", several);
    assert_eq!(api.ask(ask).await.json(200)["outcome"], "paid");
    api.close().await;
}

/// Case P68: a good notice of one order was played again at the address of another.
#[tokio::test]
async fn a_signed_notice_of_one_order_is_worth_nothing_for_another() {
    let (api, ours) = one_placed(2).await;
    let theirs = api.place("bob", &[("card", 1)]).await;
    let (at, body) = (now(&api), settled("T-1", ours.id(), 1_000).to_string());
    let good = signature_of(&at, body.as_bytes());
    let changed = body.replace(ours.id(), theirs.id());
    let replayed = bare(&at, changed.as_bytes()).header("webhook-signature", &good);
    api.ask(replayed).await.problem(401, "unauthorized");
    assert_eq!(outcome(&api, &settled("T-1", ours.id(), 1_000)).await, "paid");
    let again = bare(&at, body.as_bytes()).header("webhook-signature", &good);
    assert_eq!(api.ask(again).await.json(200)["outcome"], "duplicate");
    assert_eq!(api.show(&theirs).await["status"], "awaiting_payment");
    api.close().await;
}

#[tokio::test]
async fn a_storm_of_forgeries_is_counted_and_no_more_than_its_allowance_kept() {
    let (api, bought) = one_placed(1).await;
    let forged = || bare("1", b"{}").header("webhook-signature", "v1,AAAA");
    for _ in 0..150 {
        api.ask(forged()).await.problem(401, "unauthorized");
    }
    assert_eq!(api.shop.notices().await.len(), 100);
    let metrics = api.ask(get("/metrics")).await;
    let counted = "tessera_notices_refused_total{outcome=\"bad signature\"} 150";
    assert!(metrics.text().contains(counted), "{}", metrics.text());
    api.shop.clock.advance(Duration::from_secs(2));
    for _ in 0..5 {
        api.ask(forged()).await.problem(401, "unauthorized");
    }
    assert_eq!(api.shop.notices().await.len(), 102);
    api.ask(signed(&api, "{")).await.problem(400, "invalid-request");
    assert_eq!(api.shop.notices().await.len(), 103, "who has the secret has no allowance");
    let good = signed(&api, settled("T-1", bought.id(), 1_000).to_string());
    assert_eq!(api.ask(good).await.json(200)["outcome"], "paid");
    api.close().await;
}
