//! A hold that ends gives the place back, and who is refused keeps nothing.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_testbed::program::Program;
use tokio::task::JoinSet;

/// A hold is expired within 2 s of its end; one second is left for the answers.
const EXPIRED_WITHIN: Duration = Duration::from_secs(3);

const HOLD: Duration = Duration::from_secs(1);

#[tokio::test]
async fn an_unpaid_place_is_given_back_in_time_also_over_a_kill() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    let place =
        json!({"sku": "place", "name": "A place", "kind": "codes", "price": price, "hold_seconds": 1});
    program.products(&place).await;
    program.stock("place", 1).await;
    let mut server = program.serve().await;
    for buyer in ["ann", "ben", "cid"] {
        let client = program.client();
        let placed = client.place(buyer, &[("place", 1)]).await.unwrap().with_status(201);
        let begun = Instant::now();
        let receipt = placed.receipt();
        let other = client.place("dan", &[("place", 1)]).await.unwrap();
        assert_eq!((other.status, other.problem()), (409, "sold-out"));
        let order = client.get_waiting(&receipt, 30).await.unwrap().with_status(200);
        let took = begun.elapsed();
        assert_eq!(order.order_status(), "expired");
        assert!(took < HOLD + EXPIRED_WITHIN, "it took {took:?}");
        let late = client.pay(&receipt).await.unwrap();
        assert_eq!((late.status, late.problem()), (409, "order-not-payable"));
        server.kill9().await;
        server = program.serve().await;
    }
    let client = program.client();
    let receipt = client.place("eve", &[("place", 1)]).await.unwrap().with_status(201).receipt();
    let paid = client.pay_waiting(&receipt, 5).await.unwrap().with_status(200);
    assert_eq!(paid.codes().len(), 1);
    program.close(server).await;
}

/// Case P20: a second request came before the first order was there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_customer_in_many_windows_gets_one_place() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 0, "currency": "CNY"});
    let gift = json!({"sku": "gift", "name": "A gift", "kind": "codes", "price": price,
        "per_customer_limit": 1, "new_customers_only": true});
    program.products(&gift).await;
    program.stock("gift", 100).await;
    let server = program.serve().await;
    let mut windows = JoinSet::new();
    // NFKC and case folding make one customer of all of these.
    for name in ["ann", "Ann", "ANN", "ａｎｎ"].iter().cycle().take(64) {
        let client = program.client();
        windows.spawn(async move { client.place(name, &[("gift", 1)]).await });
    }
    let answers: Vec<_> = windows.join_all().await.into_iter().map(Result::unwrap).collect();
    let (placed, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 201);
    assert_eq!((placed.len(), refused.len()), (1, 63));
    for answer in refused {
        assert!(matches!(answer.problem(), "not-a-new-customer" | "limit-reached"), "{}", answer.text);
    }
    let client = program.client();
    assert_eq!(client.get_waiting(&placed[0].receipt(), 5).await.unwrap().codes().len(), 1);
    program.close(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_under_one_key_share_one_order() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    let server = program.serve().await;
    let client = program.client();
    let key = "0f8fad5b-d9cb-469f-a165-70867728950e";
    let refused = client.place_keyed(key, "ann", &[("card", 1)]).await.unwrap();
    assert_eq!(refused.problem(), "sold-out", "a refusal leaves the key free");
    program.stock("card", 10).await;
    let mut repeats = JoinSet::new();
    for _ in 0..32 {
        let client = program.client();
        repeats.spawn(async move { client.place_keyed(key, "ann", &[("card", 1)]).await });
    }
    let answers: Vec<_> = repeats.join_all().await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 31);
    let receipt = answers[0].receipt();
    assert!(answers.iter().all(|answer| answer.receipt() == receipt));
    let other = client.place_keyed(key, "ann", &[("card", 2)]).await.unwrap();
    assert_eq!((other.status, other.problem()), (422, "idempotency-key-reused"));
    assert_eq!(program.number("SELECT count(*) FROM orders").await, 1);
    program.close(server).await;
}
