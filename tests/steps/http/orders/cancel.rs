//! `POST /v1/orders/{id}/cancel`.

use std::time::Duration;

use crate::http::api::{Api, order};

#[tokio::test]
async fn a_cancelled_order_stays_so_however_often_it_is_cancelled() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let answer = api.ask(bought.cancel()).await;
    assert_eq!(answer.header("etag"), Some("W/\"2\""));
    assert_eq!(answer.header("retry-after"), None);
    let cancelled = answer.json(200);
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(api.ask(bought.cancel()).await.json(200), cancelled);
    api.close().await;
}

#[tokio::test]
async fn the_claim_of_a_cancelled_order_is_released_once() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    api.ask(order("bob", &[("card", 1)])).await.problem(409, "sold-out");
    let cancels = (0..20).map(|_| api.ask(bought.cancel()));
    for answer in futures_util::future::join_all(cancels).await {
        answer.json(200);
    }
    assert_eq!(api.shop.shelf("card").await.available(), 1);
    api.place("bob", &[("card", 1)]).await;
    api.close().await;
}

#[tokio::test]
async fn an_order_that_is_paid_issued_or_expired_cannot_be_cancelled() {
    let api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", 2).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    api.ask(bought.pay()).await.json(202);
    let refused = api.ask(bought.cancel()).await;
    assert!(refused.problem(409, "order-not-cancellable")["detail"].as_str().unwrap().contains("paid"));
    api.shop.issue(&[bought.order_id()]).await;
    api.ask(bought.cancel()).await.problem(409, "order-not-cancellable");
    assert_eq!(api.show(&bought).await["status"], "issued");
    let expired = api.place("ann", &[("card", 1)]).await;
    api.shop.clock.advance(Duration::from_mins(15));
    api.shop.expire_due().await;
    api.ask(expired.cancel()).await.problem(409, "order-not-cancellable");
    api.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_and_paying_at_once_leaves_one_of_both() {
    let (api, _) = Api::selling(20).await;
    for n in 0..10 {
        let bought = api.place(&format!("u-{n}"), &[("card", 1)]).await;
        let both = futures_util::future::join(api.ask(bought.pay()), api.ask(bought.cancel()));
        let (paid, cancelled) = both.await;
        match paid.status.as_u16() {
            409 => assert_eq!(cancelled.json(200)["status"], "cancelled"),
            _ => drop(cancelled.problem(409, "order-not-cancellable")),
        }
        let order = api.ask(bought.get().wait(30)).await.json(200);
        let codes = order["lines"][0]["codes"].as_array().unwrap().len();
        assert_eq!(codes, usize::from(order["status"] == "issued"));
    }
    api.close().await;
}
