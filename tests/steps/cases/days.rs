//! Days of a zone.

use tessera_api::{Zone, timestamp};
use tessera_testbed::Shop;

/// Case P118: the day was counted in UTC, by comparing texts. A day is its zone's, which is stated.
#[tokio::test]
async fn an_order_half_an_hour_into_a_day_of_shanghai_counts_in_that_day() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 9).await;
    let mut orders = vec![];
    for at in [
        "2026-12-01T15:59:59Z",
        "2026-12-01T16:30:00Z",
        "2026-12-02T15:59:59.999999Z",
        "2026-12-02T16:00:00Z",
    ] {
        shop.clock.set(timestamp(at).unwrap());
        orders.push(shop.place("ann", &[("card", 1)]).await);
    }
    let day = async |zone: &str| {
        let zone = Zone::parse(zone).unwrap();
        let (from, to) = (zone.begin("2026-12-02").unwrap(), zone.end("2026-12-02").unwrap());
        let mut tx = shop.store.snapshot().await.unwrap();
        let found = tx.orders_created(from, to, None, 9).await.unwrap();
        let counted = match tessera_testbed::Engine::of_this_run() {
            tessera_testbed::Engine::Sqlite => {
                format!("created_at >= {} AND created_at < {}", from.micros(), to.micros())
            }
            tessera_testbed::Engine::Postgres => format!(
                "created_at >= to_timestamp({}) AND created_at < to_timestamp({})",
                from.micros() / 1_000_000,
                to.micros() / 1_000_000
            ),
        };
        let recount = shop.number(&format!("SELECT count(*) FROM orders WHERE {counted}")).await;
        assert_eq!(i64::try_from(found.len()), Ok(recount), "a recount in SQL");
        found.into_iter().map(|order| order.id).collect::<Vec<_>>()
    };
    assert_eq!(day("+08:00").await, [orders[2], orders[1]]);
    assert_eq!(day("Z").await, [orders[3], orders[2]]);
    shop.close().await;
}
