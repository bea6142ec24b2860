//! Plans on PostgreSQL: made while a shop is empty and kept as it grows, none reads more than the rows it wants.

use std::sync::Arc;

use sqlx::{Connection, Row};
use tessera_issuer::{Issue, Work};
use tessera_model::ids::OrderId;
use tessera_orders::pay::{Incoming, Pay};
use tessera_orders::place::Place;
use tessera_store::{Clock, Store, run_set};
use tessera_store_postgres::{Postgres, Time};
use tessera_testbed::{Engine, Shop};

/// Orders of a set, and sets: enough that a scan of what went before stands out.
const SET: usize = 100;
const SETS: usize = 8;

/// Rows that one look into an index may find: an order's lines, a customer's orders, versions not yet vacuumed.
const FOUND_MAX: i64 = 12;

/// Every order of a set has a customer of its own, is placed and paid; every second set is issued.
async fn grow(shop: &Shop, store: &Arc<dyn Store>, number: usize) {
    let new: Vec<_> = (0..SET)
        .map(|n| shop.new_order(&format!("buyer {number}-{n}"), &[("card", 1), ("other", 1)]))
        .collect();
    let ids: Vec<OrderId> = new.iter().map(|new| new.id).collect();
    let placed = run_set(Arc::clone(store), Arc::new(Place), new).await;
    assert!(placed.iter().all(Result::is_ok));
    if number % 2 == 1 {
        return;
    }
    let notice = |id: &OrderId| shop.notice("acme", &shop.reference(), &id.to_string(), 2_000, "CNY");
    let notices: Vec<Incoming> = ids.iter().map(notice).collect();
    let paid = run_set(Arc::clone(store), Arc::new(Pay), notices).await;
    assert!(paid.iter().all(Result::is_ok));
    let works = ids.into_iter().map(Work::Order).collect();
    let issued = run_set(Arc::clone(store), Arc::new(Issue::new(shop.mint())), works).await;
    assert!(issued.iter().all(Result::is_ok));
}

#[tokio::test]
async fn plans_of_an_empty_shop_serve_a_full_one() {
    let shop = Shop::open_on(Engine::Postgres).await;
    // Statistics that say "empty": the worst a plan can be made from.
    shop.operate("ANALYZE").await;
    for sku in ["card", "other"] {
        shop.product(sku, |rules| rules.per_customer_limit = Some(9)).await;
        shop.stock(sku, SET * SETS).await;
    }
    let clock: Arc<dyn Clock> = shop.clock.clone();
    let store = Postgres::connect(&shop.database().url(), 1, Time::Given(clock)).await.unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    for number in 0..SETS {
        grow(&shop, &store, number).await;
    }
    // Its counts are there once the session has ended.
    store.close().await;
    let mut connection = shop.database().connect().await;
    let greedy = "SELECT indexrelname::text FROM pg_stat_user_indexes \
        WHERE idx_tup_read > $1 * idx_scan AND indexrelname NOT IN ('code_pkey', 'code_fingerprint')";
    let greedy = sqlx::query(greedy).bind(FOUND_MAX).fetch_all(&mut connection).await.unwrap();
    let greedy: Vec<String> = greedy.iter().map(|row| row.get(0)).collect();
    assert_eq!(greedy, [""; 0], "indexes that were read instead of looked into");
    assert!(shop.number("SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes").await > 1_000);
    connection.close().await.unwrap();
    shop.close().await;
}
