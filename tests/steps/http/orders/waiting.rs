//! `GET /v1/orders/{id}` with `Prefer: wait=N`.

use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::json;

use crate::http::api::{Api, Bought, PATIENCE};

/// Longer than any test: nothing is found but by a wake-up.
const NEVER: Duration = Duration::from_hours(1);

/// Much shorter than the wait that was asked for.
const AT_ONCE: Duration = Duration::from_secs(10);

async fn one_placed(recheck: Duration) -> (Api, Bought) {
    let api = Api::with(|parts| parts.recheck = recheck).await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", 1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    (api, bought)
}

#[tokio::test]
async fn a_wake_up_brings_the_codes_to_everyone_who_waits() {
    let (mut api, bought) = one_placed(NEVER).await;
    api.start_issuer().await;
    let waiting = join_all((0..20).map(|_| api.ask(bought.get().wait(30))));
    let paying = async {
        api.until_waited_for(1).await;
        assert!(api.ask(bought.pay()).await.status.is_success());
    };
    let (answers, ()) = tokio::time::timeout(AT_ONCE, join(waiting, paying)).await.unwrap();
    for answer in answers {
        let order = answer.json(200);
        assert_eq!(order["status"], "issued");
        assert_eq!(order["lines"][0]["codes"].as_array().unwrap().len(), 1);
        assert_eq!(answer.header("retry-after"), None);
    }
    api.until_waited_for(0).await;
    api.close().await;
}

#[tokio::test]
async fn a_lost_wake_up_costs_one_re_check() {
    let (api, bought) = one_placed(Duration::from_millis(20)).await;
    api.ask(bought.pay()).await.json(202);
    let issuing = async {
        api.until_waited_for(1).await;
        api.shop.issue(&[bought.order_id()]).await;
    };
    let both = join(api.ask(bought.get().wait(30)), issuing);
    let (answer, ()) = tokio::time::timeout(AT_ONCE, both).await.unwrap();
    assert_eq!(answer.json(200)["status"], "issued");
    api.close().await;
}

#[tokio::test]
async fn a_wait_in_a_final_state_ends_at_once() {
    let (api, cancelled) = one_placed(NEVER).await;
    api.ask(cancelled.cancel()).await.json(200);
    let expired = api.place("ann", &[("card", 1)]).await;
    api.shop.clock.advance(Duration::from_mins(15));
    api.shop.expire_due().await;
    let issued = api.place("ann", &[("card", 1)]).await;
    api.ask(issued.pay()).await.json(202);
    api.shop.issue(&[issued.order_id()]).await;
    for (bought, status) in [(&cancelled, "cancelled"), (&expired, "expired"), (&issued, "issued")] {
        let answer = tokio::time::timeout(AT_ONCE, api.ask(bought.get().wait(30))).await.unwrap();
        assert_eq!(answer.json(200)["status"], status);
    }
    api.close().await;
}

#[tokio::test]
async fn a_wait_ends_when_the_order_is_cancelled_or_expires() {
    let (api, cancelled) = one_placed(Duration::from_millis(20)).await;
    let cancelling = async {
        api.until_waited_for(1).await;
        api.ask(cancelled.cancel()).await.json(200);
    };
    let (answer, ()) = join(api.ask(cancelled.get().wait(30)), cancelling).await;
    assert_eq!(answer.json(200)["status"], "cancelled");
    let expired = api.place("ann", &[("card", 1)]).await;
    let expiring = async {
        api.until_waited_for(1).await;
        api.shop.clock.advance(Duration::from_mins(15));
        api.shop.expire_due().await;
    };
    let (answer, ()) = join(api.ask(expired.get().wait(30)), expiring).await;
    assert_eq!(answer.json(200)["status"], "expired");
    api.close().await;
}

#[tokio::test]
async fn a_wait_that_runs_out_is_answered_with_the_order_as_it_is() {
    let (api, bought) = one_placed(NEVER).await;
    for seconds in [0, 1] {
        let answer = api.ask(bought.get().wait(seconds)).await;
        assert_eq!(answer.json(200)["status"], "awaiting_payment");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    let seen = api.ask(bought.get().wait(1).header("if-none-match", "W/\"1\"")).await;
    assert_eq!(seen.status.as_u16(), 304);
    api.until_waited_for(0).await;
    api.close().await;
}

#[tokio::test]
async fn a_wait_for_another_version_ends_with_it() {
    let (api, bought) = one_placed(Duration::from_millis(20)).await;
    let paying = async {
        api.until_waited_for(1).await;
        api.ask(bought.pay()).await.json(202);
    };
    let seen = bought.get().wait(30).header("if-none-match", "W/\"1\"");
    let (answer, ()) = tokio::time::timeout(AT_ONCE, join(api.ask(seen), paying)).await.unwrap();
    assert_eq!(answer.json(200)["status"], "paid");
    assert_eq!(answer.header("etag"), Some("W/\"2\""));
    let old = bought.get().wait(30).header("if-none-match", "W/\"1\"");
    let answer = tokio::time::timeout(AT_ONCE, api.ask(old)).await.unwrap();
    assert_eq!(answer.json(200)["version"], 2);
    api.shop.leftover_is_fine();
    api.close().await;
}

#[tokio::test]
async fn waiting_goes_on_over_an_outage_of_the_store() {
    let (api, bought) = one_placed(Duration::from_millis(20)).await;
    api.ask(bought.pay()).await.json(202);
    let outage = async {
        api.until_waited_for(1).await;
        let hang = api.shop.faults.hang("orders_versions", &"");
        tokio::time::timeout(PATIENCE, hang.reached()).await.unwrap();
        api.shop.faults.away();
        hang.die();
        api.ask(bought.get()).await.problem(503, "unavailable");
        api.shop.faults.clear();
        api.shop.issue(&[bought.order_id()]).await;
    };
    let (answer, ()) = join(api.ask(bought.get().wait(30)), outage).await;
    assert_eq!(answer.json(200)["status"], "issued");
    api.close().await;
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_its_place() {
    let (api, bought) = one_placed(NEVER).await;
    tokio::select! {
        _ = api.ask(bought.get().wait(30)) => panic!("nothing happened to the order"),
        () = api.until_waited_for(1) => {}
    }
    api.until_waited_for(0).await;
    api.close().await;
}

#[tokio::test]
async fn a_stopping_process_answers_those_who_wait() {
    let (api, bought) = one_placed(NEVER).await;
    let stopping = async {
        api.until_waited_for(1).await;
        api.stop.cancel();
    };
    let both = join(api.ask(bought.get().wait(30)), stopping);
    let (answer, ()) = tokio::time::timeout(AT_ONCE, both).await.unwrap();
    assert_eq!(answer.json(200)["status"], "awaiting_payment");
    api.close().await;
}

#[tokio::test]
async fn wishes_that_cannot_be_read_are_ignored() {
    let (api, bought) = one_placed(NEVER).await;
    for wish in ["wait", "wait=-1", "wait=soon", "wait=1.5", "return=minimal", "", "wait="] {
        let answer = tokio::time::timeout(AT_ONCE, api.ask(bought.get().header("prefer", wish))).await;
        assert_eq!(answer.unwrap().json(200)["lines"][0]["codes"], json!([]), "{wish}");
    }
    api.close().await;
}
