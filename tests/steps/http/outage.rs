//! What is away: the store makes a problem of its own, the broker makes none.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tessera_model::order::OrderStatus;
use tessera_store::StoreError;
use tessera_testbed::How;

use super::api::{Api, Bought, order};
use super::ask::{Ask, get};

/// Every request that needs the store, once.
fn requests(bought: &Bought) -> [Ask; 8] {
    [
        get("/v1/products"),
        get("/v1/products/card"),
        order("bob", &[("card", 1)]),
        order("bob", &[("card", 1)]).header("idempotency-key", "8e03978e-40d5-43dd"),
        bought.get(),
        bought.get().wait(30),
        bought.codes(""),
        bought.pay(),
    ]
}

/// Case P115: an outage looked like "not found".
#[tokio::test]
async fn a_store_that_is_away_is_neither_not_found_nor_empty() {
    let (api, _) = Api::selling(9).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    api.shop.faults.away();
    let cancel = [bought.cancel(), bought.pay().wait(30)];
    for ask in requests(&bought).into_iter().chain(cancel) {
        let answer = api.ask(ask.clone()).await;
        answer.problem(503, "unavailable");
        let after: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=30).contains(&after), "{ask:?}");
    }
    api.shop.faults.clear();
    assert_eq!(api.show(&bought).await["version"], 1, "nothing was done");
    for ask in requests(&bought) {
        if !format!("{ask:?}").contains("wait=30") {
            assert!(api.ask(ask).await.status.is_success());
        }
    }
    assert_eq!(api.ask(bought.get().wait(30)).await.json(200)["status"], "issued");
    api.close().await;
}

#[tokio::test]
async fn a_request_without_a_good_token_learns_nothing_of_an_outage() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let expected = api.ask(get(&bought.path)).await;
    api.shop.faults.away();
    assert_eq!(api.ask(get(&bought.path).token("x.0.y")).await.bytes, expected.bytes);
    api.close().await;
}

/// Case P115, of the broker: here no answer waits for it, so its outage is none for buyers.
#[tokio::test]
async fn a_broker_that_is_away_delays_codes_and_no_answer() {
    let (api, _) = Api::selling(2).await;
    api.shop.broker.stop().await;
    let bought = api.place("ann", &[("card", 1)]).await;
    assert_eq!(api.ask(bought.pay()).await.json(202)["status"], "paid");
    assert_eq!(api.show(&bought).await["status"], "paid");
    api.shop.until_published(1).await;
    api.shop.broker.restart().await;
    api.shop.publish_paid(bought.order_id()).await;
    let issued = api.ask(bought.get().wait(30)).await.json(200);
    assert_eq!(issued["status"], "issued");
    api.close().await;
}

/// Case P82: a message that could not be sent was logged and no more, and the paid order was never filled.
#[tokio::test]
async fn five_hundred_payments_while_the_broker_is_away_are_all_issued_after() {
    let (api, _) = Api::selling(500).await;
    let customers: Vec<String> = (0..500).map(|n| format!("u-{n}")).collect();
    let bought = join_all(customers.iter().map(|customer| api.place(customer, &[("card", 1)]))).await;
    api.shop.broker.stop().await;
    for answer in join_all(bought.iter().map(|b| api.ask(b.pay()))).await {
        answer.json(202);
    }
    api.shop.until_published(500).await;
    api.shop.broker.restart().await;
    api.shop.clock.advance(Duration::from_secs(10));
    assert_eq!(api.shop.sweep().await, 500);
    let ids: Vec<_> = bought.iter().map(Bought::order_id).collect();
    api.shop.until(&ids, OrderStatus::Issued).await;
    api.close().await;
}

#[tokio::test]
async fn an_order_whose_commit_was_in_doubt_is_placed_once() {
    let (api, _) = Api::selling(3).await;
    let doubt = How::Fail(StoreError::InDoubt("a fault on order".to_owned()));
    api.shop.faults.next(1, "committed", &"orders_insert", doubt.clone());
    let bought = api.place("ann", &[("card", 1)]).await;
    assert_eq!(api.shop.number("SELECT count(*) FROM orders").await, 1);
    api.shop.faults.next(1, "committed", &"money_append", doubt);
    assert_eq!(api.ask(bought.pay()).await.json(202)["status"], "paid");
    assert_eq!(api.shop.number("SELECT count(*) FROM payment").await, 1);
    // Who was in doubt told nobody.
    api.shop.clock.advance(Duration::from_secs(10));
    assert_eq!(api.shop.sweep().await, 1);
    assert_eq!(api.ask(bought.get().wait(30)).await.json(200)["status"], "issued");
    api.close().await;
}

#[tokio::test]
async fn a_repeat_after_an_outage_finds_what_the_first_request_did() {
    let (api, _) = Api::selling(3).await;
    let ask = || order("ann", &[("card", 1)]).header("idempotency-key", "8e03978e-40d5-43dd");
    let gone = How::Fail(StoreError::Unavailable("a fault on order".to_owned()));
    api.shop.faults.next(1, "committed", &"orders_insert", gone.clone());
    api.ask(ask()).await.problem(503, "unavailable");
    assert_eq!(api.ask(ask()).await.json(200)["status"], "awaiting_payment");
    assert_eq!(api.shop.number("SELECT count(*) FROM orders").await, 1);
    api.shop.faults.next(1, "commit", &"orders_insert", gone);
    let other = || order("bob", &[("card", 1)]).header("idempotency-key", "another-key");
    api.ask(other()).await.problem(503, "unavailable");
    assert_eq!(api.ask(other()).await.json(201)["customer"], json!({ "id": "bob" }));
    api.close().await;
}

#[tokio::test]
async fn an_order_that_cannot_be_read_fails_alone_among_those_read_with_it() {
    let (api, _) = Api::selling(9).await;
    let (sick, well) = (api.buy("ann", &[("card", 1)]).await, api.buy("bob", &[("card", 1)]).await);
    let id = api.shop.literal(sick.order_id());
    api.shop.operate(&format!("UPDATE orders SET currency = 'cny' WHERE id = {id}")).await;
    let answers = join_all((0..40).map(|n| api.ask(if n % 2 == 0 { sick.get() } else { well.get() }))).await;
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(answer.status.as_u16(), if n % 2 == 0 { 500 } else { 200 });
    }
    api.shop.operate("UPDATE orders SET currency = 'CNY'").await;
    api.close().await;
}
