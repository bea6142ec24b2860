//! `GET /v1/orders/{id}`.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use tessera_store::Clock;

use crate::http::api::{Api, Bought, order};
use crate::http::ask::{ask, get};

#[tokio::test]
async fn a_version_seen_is_answered_with_304_until_there_is_another() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let first = api.ask(bought.get()).await;
    assert_eq!(first.header("etag"), Some("W/\"1\""));
    let again = api.ask(bought.get().header("if-none-match", "W/\"1\"")).await;
    assert_eq!(again.status.as_u16(), 304);
    assert!(again.bytes.is_empty());
    assert_eq!(again.header("etag"), Some("W/\"1\""));
    assert_eq!(again.header("cache-control"), Some("private, no-store"));
    assert_eq!(again.header("retry-after"), Some("1"));
    api.ask(bought.cancel()).await.json(200);
    let now = api.ask(bought.get().header("if-none-match", "W/\"1\"")).await;
    assert_eq!(now.json(200)["status"], "cancelled");
    assert_eq!(now.header("etag"), Some("W/\"2\""));
    api.close().await;
}

#[tokio::test]
async fn a_version_is_read_from_a_weak_or_strong_tag_among_others() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    for tags in ["\"1\"", "W/\"1\"", "\"x\", \"1\""] {
        let answer = api.ask(bought.get().header("if-none-match", tags)).await;
        assert_eq!(answer.status.as_u16(), 304, "{tags}");
    }
    for tags in ["W/\"2\"", "\"x\"", "", "W/\"-1\""] {
        api.ask(bought.get().header("if-none-match", tags)).await.json(200);
    }
    api.close().await;
}

#[tokio::test]
async fn every_visible_change_raises_the_version() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let version = |order: &Value| order["version"].as_i64().unwrap();
    assert_eq!(version(&bought.order), 1);
    let issued = api.ask(bought.pay().wait(30)).await;
    let order = issued.json(200);
    assert_eq!(version(&order), 3, "paid, then issued");
    assert_eq!(issued.header("etag"), Some("W/\"3\""));
    api.close().await;
}

#[tokio::test]
async fn a_client_is_told_to_ask_again_only_while_the_order_is_pending() {
    let (api, _) = Api::selling(3).await;
    let retry = async |bought: &Bought| {
        let answer = api.ask(bought.get()).await;
        assert_eq!(answer.header("cache-control"), Some("private, no-store"));
        answer.header("retry-after").map(str::to_owned)
    };
    let pending = api.place("ann", &[("card", 1)]).await;
    assert_eq!(retry(&pending).await.as_deref(), Some("1"));
    api.ask(pending.cancel()).await.json(200);
    assert_eq!(retry(&pending).await, None);
    let issued = api.buy("ann", &[("card", 1)]).await;
    assert_eq!(retry(&issued).await, None);
    let expired = api.place("ann", &[("card", 1)]).await;
    api.shop.clock.advance(Duration::from_mins(15));
    assert_eq!(api.shop.expire_due().await, [expired.order_id()]);
    assert_eq!(retry(&expired).await, None);
    api.close().await;
}

#[tokio::test]
async fn a_backordered_order_is_pending() {
    let mut api = Api::open().await;
    api.shop.product("card", |rules| rules.backorders = true).await;
    api.start_issuer().await;
    let bought = api.place("ann", &[("card", 1)]).await;
    api.ask(bought.pay()).await.json(202);
    let status = tessera_model::order::OrderStatus::Backordered;
    api.shop.until(&[bought.order_id()], status).await;
    let answer = api.ask(bought.get()).await;
    assert_eq!(answer.json(200)["status"], "backordered");
    assert_eq!(answer.header("retry-after"), Some("1"));
    api.close().await;
}

/// Case P46: the client's clock decided when an order was over.
#[tokio::test]
async fn the_seconds_left_of_a_hold_are_counted_by_our_clock_alone() {
    const YESTERDAY: &str = "Sun, 29 Nov 2026 12:00:00 GMT";
    const TOMORROW: &str = "Tue, 01 Dec 2026 12:00:00 GMT";
    let (api, _) = Api::selling(1).await;
    let placed = api.ask(order("ann", &[("card", 1)]).header("date", TOMORROW)).await;
    let bought = Bought::of(&placed.json(201));
    assert_eq!(bought.order["hold_seconds_left"], 900);
    for (seconds, left) in [(0, 900), (1, 899), (458, 441), (440, 1), (1, 0), (86_400, 0)] {
        api.shop.clock.advance(Duration::from_secs(seconds));
        let skewed = |date: &str| bought.get().header("date", date);
        let order = api.ask(skewed(YESTERDAY)).await.json(200);
        assert_eq!(api.ask(skewed(TOMORROW)).await.json(200), order);
        assert_eq!(order["hold_seconds_left"], left);
        let instant = |name: &str| tessera_api::timestamp(order[name].as_str().unwrap()).unwrap();
        let difference = instant("hold_expires_at").since(instant("server_time"));
        assert_eq!(order["hold_seconds_left"], difference.as_secs());
    }
    api.close().await;
}

/// Case P50: the seconds left were not those until the order expires.
#[tokio::test]
async fn the_seconds_left_are_those_until_the_hold_ends_at_any_moment() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let (began, mut rng) = (api.shop.clock.now(), StdRng::seed_from_u64(50));
    let mut moments: Vec<u64> = (0..10).map(|_| rng.random_range(0..1_000_000_000)).collect();
    moments.sort_unstable();
    for micros in moments {
        api.shop.clock.set(began.plus(Duration::from_micros(micros)));
        let left = 900_000_000_u64.saturating_sub(micros);
        let told = api.show(&bought).await["hold_seconds_left"].as_u64().unwrap() * 1_000_000;
        assert!(told.abs_diff(left) <= 1_000_000, "{told} of {left}");
    }
    api.close().await;
}

#[tokio::test]
async fn an_order_that_no_longer_waits_for_payment_has_no_hold() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let cancelled = api.ask(bought.cancel()).await.json(200);
    assert_eq!(cancelled["hold_expires_at"], Value::Null);
    assert_eq!(cancelled["hold_seconds_left"], Value::Null);
    api.close().await;
}

/// Case P67: who went back from the gateway and reloaded got the code without having paid.
#[tokio::test]
async fn looking_at_an_order_a_hundred_times_does_not_change_it() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let first = api.show(&bought).await;
    // Nothing here is an address to come back to; these are what a browser can reach.
    let back = [format!("{}/pay", bought.path), format!("{}/pay?status=success", bought.path)];
    for _ in 0..100 {
        assert_eq!(api.show(&bought).await, first);
        assert_eq!(api.ask(bought.codes("")).await.json(200)["total"], 0);
        for path in &back {
            api.ask(get(path).token(&bought.token)).await.problem(405, "method-not-allowed");
        }
    }
    assert_eq!(first["status"], "awaiting_payment");
    api.close().await;
}

#[tokio::test]
async fn requests_that_come_together_show_an_order_once() {
    let (api, _) = Api::selling(2).await;
    let bought = api.buy("ann", &[("card", 2)]).await;
    let answers = futures_util::future::join_all((0..20).map(|_| api.ask(bought.get()))).await;
    for answer in answers {
        assert_eq!(answer.json(200), bought.order);
    }
    api.close().await;
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let head = api.ask(ask("HEAD", &bought.path).token(&bought.token)).await;
    assert_eq!(head.status.as_u16(), 200);
    assert!(head.bytes.is_empty());
    assert_eq!(head.header("etag"), Some("W/\"1\""));
    api.close().await;
}
