//! A file that stands still, as on a disk that is frozen. About SQLite whatever the run is for.

use std::time::{Duration, Instant};

use futures_util::future::join4;
use tessera_testbed::{Engine, Scenario, Shop};

use super::api::{Api, order};

/// A request waits for its outcome 15 s at most.
const TOLD: Scenario = Scenario {
    number: 40,
    fault: "a commit stands still, as on a frozen disk",
    until: "every buyer is told to come again",
    bound: Duration::from_secs(17),
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_stands_still_is_told_to_buyers_in_time_and_done_once() {
    let api = Api::over(Shop::open_on(Engine::Sqlite).await, |_| ());
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", 9).await;
    let (paid, cancelled) = (api.place("ann", &[("card", 1)]).await, api.place("bob", &[("card", 1)]).await);
    let hang = api.shop.faults.hang("commit", &"orders_insert");
    let ask = || order("cid", &[("card", 1)]).header("idempotency-key", "8e03978e-40d5-43dd");
    let began = Instant::now();
    // Who only looks is answered.
    let looking = async {
        hang.reached().await;
        api.show(&paid).await
    };
    let (placing, paying, cancelling, _looked) =
        join4(api.ask(ask()), api.ask(paid.pay()), api.ask(cancelled.cancel()), looking).await;
    TOLD.recovered(Engine::Sqlite, began.elapsed());
    // Those that came before the commit that stands still are done.
    placing.problem(503, "unavailable");
    for answer in [placing, paying, cancelling] {
        assert!(answer.status == 503 && answer.header("retry-after").is_some() || answer.status.is_success());
    }
    hang.go_on();
    let again = api.ask(ask()).await;
    assert!(again.status.is_success(), "{}", again.status);
    assert_eq!(api.shop.number("SELECT count(*) FROM orders").await, 3);
    assert!(api.ask(paid.pay()).await.status.is_success());
    api.shop.issue(&[paid.order_id()]).await;
    api.close().await;
}
