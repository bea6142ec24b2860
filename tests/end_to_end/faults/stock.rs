//! Stock that ends in the middle of a set.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_testbed::program::Program;
use tessera_testbed::{Engine, Scenario};

use super::{offering, until_number};

/// Stock that came by a command is found within 5 s.
const RESUMES: Scenario = Scenario {
    number: 38,
    fault: "stock ends in the middle of a set, and comes again",
    until: "the rest of the set has its codes, in order",
    bound: Duration::from_secs(7),
};

const ORDERS: usize = 40;
const QUANTITY: i64 = 3;

/// Enough for 13 orders, and two codes more that no order may get in part.
const FIRST: usize = 41;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_that_ends_within_a_set_leaves_no_order_in_part_and_goes_on_in_order() {
    let program = offering(Program::default(), 0, &json!({"backorders": true})).await;
    program.stock("card", FIRST).await;
    let server = program.serve().await;
    let client = program.client();
    let mut receipts = vec![];
    for buyer in 0..ORDERS {
        let placed = client.place(&format!("buyer-{buyer}"), &[("card", QUANTITY)]).await.unwrap();
        receipts.push(placed.with_status(201).receipt());
    }
    until_number(&program, "SELECT count(*) FROM orders WHERE status = 'paid'", 0).await;
    let mut codes = vec![];
    for (number, receipt) in receipts.iter().enumerate() {
        let order = client.get(receipt).await.unwrap().with_status(200);
        let filled = number < FIRST / 3;
        assert_eq!(order.order_status(), if filled { "issued" } else { "backordered" }, "order {number}");
        assert_eq!(order.codes().len(), if filled { 3 } else { 0 }, "order {number}");
        codes.extend(order.codes());
    }
    // Of other codes, so that their order shows.
    let more = tessera_testbed::program::codes("later", ORDERS * 3 - FIRST);
    let file = program.file("later.txt", more.join("\n"));
    program.json(&["codes", "import", &file, "--sku", "card"]).await;
    let brought = Instant::now();
    for receipt in &receipts[FIRST / 3..] {
        let order = client.get_waiting(receipt, 30).await.unwrap().with_status(200);
        assert_eq!(order.order_status(), "issued", "{}", order.text);
        codes.extend(order.codes());
    }
    RESUMES.recovered(Engine::of_this_run(), brought.elapsed());
    let all = [tessera_testbed::program::codes("card", FIRST), more].concat();
    assert_eq!(codes, all, "they were not served in the order in which they paid");
    program.close(server).await;
}
