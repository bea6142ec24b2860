//! Good notices: what becomes of the money, in one word.

use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::json;
use tessera_api::PaymentSettings;
use tessera_model::pay::MoneyState;

use super::notice::{PATH, one_placed, outcome, payments, settled, signed, signed_at};
use crate::http::api::{Api, order};
use crate::http::ask::{ask, get, post};

#[tokio::test]
async fn the_price_makes_an_order_paid_and_then_issued() {
    let (mut api, bought) = one_placed(1).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "paid");
    let paid = api.show(&bought).await;
    assert_eq!(paid["status"], "paid");
    assert_eq!(paid["payments"][0]["state"], "settled");
    api.start_issuer().await;
    assert_eq!(api.ask(bought.get().wait(30)).await.json(200)["status"], "issued");
    api.close().await;
}

#[tokio::test]
async fn a_notice_that_comes_again_is_a_duplicate() {
    let (api, bought) = one_placed(1).await;
    let notice = settled("T-1", bought.id(), 1_000);
    assert_eq!(outcome(&api, &notice).await, "paid");
    for _ in 0..3 {
        assert_eq!(outcome(&api, &notice).await, "duplicate");
    }
    assert_eq!(payments(&api).await, 1);
    assert_eq!(api.shop.notices().await.len(), 0);
    api.close().await;
}

/// Case P1: a gateway that was told "failed" sent its notice again, and one order got two codes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_at_once_one_pays() {
    let (api, _) = Api::selling(9).await;
    for (sold, times) in [(1, 1), (2, 2), (3, 50)] {
        let bought = api.place("ann", &[("card", 1)]).await;
        let notice = settled(&format!("T-{times}"), bought.id(), 1_000);
        let words = join_all((0..times).map(|_| outcome(&api, &notice))).await;
        assert_eq!(words.iter().filter(|word| *word == "paid").count(), 1, "{words:?}");
        assert_eq!(words.iter().filter(|word| *word == "duplicate").count(), times - 1, "{words:?}");
        let issued = api.ask(bought.get().wait(30)).await.json(200);
        assert_eq!(issued["lines"][0]["codes"].as_array().unwrap().len(), 1);
        assert_eq!(api.ask(get("/v1/products/card")).await.json(200)["available"], 9 - sold);
        assert_eq!(api.shop.money(bought.order_id()).await.into_values().sum::<i64>(), 1_000);
    }
    api.close().await;
}

#[tokio::test]
async fn less_is_short_until_the_rest_comes() {
    let (api, bought) = one_placed(1).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 999)).await, "short");
    let short = api.show(&bought).await;
    assert_eq!(
        (&short["status"], &short["payments"][0]["state"]),
        (&json!("awaiting_payment"), &json!("short"))
    );
    assert_eq!(outcome(&api, &settled("T-2", bought.id(), 1)).await, "paid");
    assert_eq!(api.shop.money(bought.order_id()).await[&MoneyState::Settled], 1_000);
    api.close().await;
}

#[tokio::test]
async fn more_is_over_and_the_rest_is_to_be_paid_back() {
    let (api, bought) = one_placed(1).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_234)).await, "over");
    let money = api.shop.money(bought.order_id()).await;
    assert_eq!((money[&MoneyState::Settled], money[&MoneyState::RefundDue]), (1_000, 234));
    let paid = api.show(&bought).await;
    assert_eq!(paid["status"], "paid");
    assert_eq!(paid["payments"].as_array().unwrap().len(), 2, "one for each portion");
    api.close().await;
}

#[tokio::test]
async fn a_second_payment_of_an_order_is_to_be_paid_back() {
    let (api, bought) = one_placed(2).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "paid");
    assert_eq!(outcome(&api, &settled("T-2", bought.id(), 1_000)).await, "refund_due");
    assert_eq!(api.shop.money(bought.order_id()).await[&MoneyState::RefundDue], 1_000);
    assert_eq!(api.show(&bought).await["status"], "paid");
    api.close().await;
}

#[tokio::test]
async fn a_late_payment_is_honoured_while_there_is_stock_and_paid_back_after() {
    let (api, first) = one_placed(1).await;
    api.shop.clock.advance(Duration::from_mins(15));
    api.shop.expire_due().await;
    let second = api.place("bob", &[("card", 1)]).await;
    assert_eq!(outcome(&api, &settled("T-1", first.id(), 1_000)).await, "refund_due");
    let late = api.show(&first).await;
    assert_eq!((&late["status"], &late["payments"][0]["state"]), (&json!("expired"), &json!("refund_due")));
    api.ask(second.cancel()).await.json(200);
    assert_eq!(outcome(&api, &settled("T-2", second.id(), 1_000)).await, "paid");
    api.close().await;
}

#[tokio::test]
async fn money_for_no_order_of_ours_is_unmatched() {
    let (api, bought) = one_placed(1).await;
    let longest = "订".repeat(64);
    for (n, name) in
        ["hello", "0193747c-0000-7000-8000-000000000000", "%", longest.as_str()].iter().enumerate()
    {
        assert_eq!(outcome(&api, &settled(&format!("T-{n}"), name, 1_000)).await, "unmatched", "{name}");
    }
    let mut euros = settled("T-e", bought.id(), 1_000);
    euros["amount"]["currency"] = json!("EUR");
    assert_eq!(outcome(&api, &euros).await, "unmatched");
    assert_eq!(api.show(&bought).await["status"], "awaiting_payment");
    assert_eq!(payments(&api).await, 5);
    api.close().await;
}

#[tokio::test]
async fn a_reference_that_comes_with_another_amount_or_order_is_recorded() {
    let (api, bought) = one_placed(2).await;
    let other = api.place("bob", &[("card", 1)]).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "paid");
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 2_000)).await, "recorded");
    assert_eq!(outcome(&api, &settled("T-1", other.id(), 1_000)).await, "recorded");
    assert_eq!(api.show(&other).await["status"], "awaiting_payment");
    let notices = api.shop.notices().await;
    assert_eq!(notices.len(), 2);
    for notice in notices {
        assert!(notice.reason.contains("came again"), "{}", notice.reason);
        assert!(String::from_utf8(notice.body).unwrap().contains("T-1"));
    }
    api.close().await;
}

/// Case P59: a notice of a payment under way completed the order early, and a later one took it back.
#[tokio::test]
async fn what_settles_nothing_is_ignored() {
    let (mut api, bought) = one_placed(1).await;
    for kind in ["payment.pending", "payment.processing", "payment.failed", "customer.created", ""] {
        let mut notice = settled("T-1", bought.id(), 1_000);
        notice["type"] = json!(kind);
        assert_eq!(outcome(&api, &notice).await, "ignored", "{kind}");
        assert_eq!(outcome(&api, &json!({ "type": kind, "data": [1] })).await, "ignored", "{kind}");
    }
    assert_eq!(api.show(&bought).await["version"], 1);
    assert_eq!(payments(&api).await, 0);
    let metrics = api.ask(get("/metrics")).await;
    assert!(metrics.text().contains("tessera_payments_total{outcome=\"ignored\"} 10"), "{}", metrics.text());
    api.start_issuer().await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "paid");
    let issued = api.ask(bought.get().wait(30)).await.json(200);
    assert_eq!(issued["status"], "issued");
    for kind in ["payment.pending", "payment.processing", "payment.failed"] {
        let mut late = settled("T-1", bought.id(), 1_000);
        late["type"] = json!(kind);
        assert_eq!(outcome(&api, &late).await, "ignored", "{kind}");
        assert_eq!(api.show(&bought).await, issued, "{kind}");
    }
    api.close().await;
}

/// Case P58: a notice that raced with the buyer's own confirmation was a conflict, or lost the order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notice_and_its_buyer_at_once_make_one_payment_of_the_order() {
    const RACES: usize = 500;
    let (api, _) = one_placed(RACES + 1).await;
    let race = async |n: usize| {
        let bought = api.place(&format!("u-{n}"), &[("card", 1)]).await;
        let notice = settled(&format!("T-{n}"), bought.id(), 1_000);
        let (word, paid) = join(outcome(&api, &notice), api.ask(bought.pay())).await;
        assert!(["paid", "refund_due"].contains(&word.as_str()), "{word}");
        assert_eq!(paid.json(202)["status"], "paid");
        let money = api.shop.money(bought.order_id()).await;
        assert_eq!(money[&MoneyState::Settled], 1_000);
    };
    // Few at a time, so that races fall into sets of every shape.
    for first in (0..RACES).step_by(10) {
        join_all((first..first + 10).map(race)).await;
    }
    assert_eq!(api.shop.number("SELECT count(*) FROM orders WHERE status = 'paid'").await, 500);
    api.close().await;
}

#[tokio::test]
async fn an_old_or_future_timestamp_is_accepted() {
    let (api, bought) = one_placed(1).await;
    for (n, at) in ["1", "9999999999", "0", "-5", "not a number", "99999999999999999999"].iter().enumerate() {
        let body = settled(&format!("T-{n}"), bought.id(), 1_000).to_string();
        let word = api.ask(signed_at(at, body.as_bytes())).await.json(200)["outcome"].clone();
        assert_eq!(word, if n == 0 { "paid" } else { "refund_due" }, "{at}");
    }
    api.close().await;
}

/// Case P53: who came back from the gateway before its notice read that there was no such order.
#[tokio::test]
async fn a_buyer_who_comes_before_the_notice_sees_a_pending_order() {
    let (api, bought) = one_placed(1).await;
    for _ in 0..5 {
        assert_eq!(api.show(&bought).await["status"], "awaiting_payment");
        assert_eq!(api.ask(bought.codes("")).await.json(200)["total"], 0);
    }
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "paid");
    assert_eq!(api.show(&bought).await["status"], "paid");
    api.close().await;
}

/// Case P65: money was booked to an older, expired order because its amount was the same.
#[tokio::test]
async fn the_second_of_two_equal_orders_is_paid_by_its_own_notice() {
    let (mut api, first) = one_placed(2).await;
    api.shop.clock.advance(Duration::from_mins(15));
    api.shop.expire_due().await;
    let second = api.place("ann", &[("card", 1)]).await;
    api.start_issuer().await;
    assert_eq!(outcome(&api, &settled("T-1", second.id(), 1_000)).await, "paid");
    assert_eq!(api.ask(second.get().wait(30)).await.json(200)["status"], "issued");
    assert_eq!(api.show(&first).await["status"], "expired");
    api.close().await;
}

#[tokio::test]
async fn only_post_tells_of_payments() {
    let (api, bought) = one_placed(1).await;
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let answer = api.ask(ask(method, PATH)).await;
        answer.problem(405, "method-not-allowed");
        assert_eq!(answer.header("allow"), Some("POST"));
    }
    assert_eq!(api.show(&bought).await["status"], "awaiting_payment");
    api.close().await;
}

#[tokio::test]
async fn an_unknown_provider_has_no_path() {
    let api = Api::open().await;
    for provider in ["test", "stripe", "HMAC", "%00"] {
        let answer = api.ask(post(format!("/v1/payments/{provider}/notify")).raw("{}")).await;
        answer.problem(404, "not-found");
    }
    api.close().await;
    let off = Api::with(|parts| parts.payments = PaymentSettings { test: true, hmac: None }).await;
    off.ask(signed(&off, "{}")).await.problem(404, "not-found");
    off.close().await;
}

#[tokio::test]
async fn a_customer_over_the_limit_is_not_revived() {
    let api = Api::open().await;
    api.shop.product("card", |rules| rules.per_customer_limit = Some(1)).await;
    api.shop.stock("card", 5).await;
    let first = api.place("ann", &[("card", 1)]).await;
    api.shop.clock.advance(Duration::from_mins(15));
    api.shop.expire_due().await;
    let second = api.place("ann", &[("card", 1)]).await;
    assert_eq!(outcome(&api, &settled("T-1", second.id(), 1_000)).await, "paid");
    assert_eq!(outcome(&api, &settled("T-2", first.id(), 1_000)).await, "refund_due");
    api.ask(order("ann", &[("card", 1)])).await.problem(409, "limit-reached");
    api.shop.leftover_is_fine();
    api.close().await;
}
