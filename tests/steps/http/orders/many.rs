//! Two thousand orders that somebody waits for.

use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};

use crate::http::api::{Api, Bought, PATIENCE};

const ORDERS: usize = 2_000;

/// How often the orders are looked at.
const PERIOD: Duration = Duration::from_millis(50);

/// How many looks are counted.
const LOOKS: u64 = 10;

#[tokio::test]
async fn two_thousand_orders_are_looked_at_by_one_query_and_heard_without_a_wake_up() {
    let api = Api::with(|parts| parts.recheck = PERIOD).await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", ORDERS).await;
    let customers: Vec<String> = (0..ORDERS).map(|n| format!("u-{n}")).collect();
    let bought = join_all(customers.iter().map(|customer| api.place(customer, &[("card", 1)]))).await;
    join_all(bought.iter().map(|bought| async { api.ask(bought.pay()).await.json(202) })).await;
    let waiting = join_all(bought.iter().map(|bought| api.ask(bought.get().wait(30))));
    let issuing = async {
        api.until_waited_for(ORDERS).await;
        let mut looks = api.shop.faults.count("orders_versions");
        let since = Instant::now();
        looks.wait_for(|count| *count >= LOOKS).await.unwrap();
        // A query for each order, or each set of them, would be there within one period.
        assert!(since.elapsed() >= PERIOD * 8, "{LOOKS} looks in {:?}", since.elapsed());
        let reads = api.shop.faults.count("orders_read");
        for set in bought.chunks(256) {
            api.shop.issue(&set.iter().map(Bought::order_id).collect::<Vec<_>>()).await;
        }
        reads
    };
    let (answers, reads) = tokio::time::timeout(PATIENCE, join(waiting, issuing)).await.unwrap();
    for answer in answers {
        assert_eq!(answer.json(200)["status"], "issued");
    }
    // Each set is read once where it fell into one look, and in parts where it fell between two.
    let reads = *reads.borrow();
    assert!(reads <= 60, "{reads} reads for {ORDERS} orders");
    api.close().await;
}
