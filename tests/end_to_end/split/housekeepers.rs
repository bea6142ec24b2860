//! Two housekeepers, of whom one works.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_testbed::program::Program;

use super::{close, process};

/// A hold of one second is expired within two of its end, and three more are left for a busy machine.
const WITHIN: Duration = Duration::from_secs(6);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_housekeeper_is_killed_another_expires_holds() {
    let program = Program::on_servers();
    let price = json!({"minor": 1_990, "currency": "CNY"});
    let card = json!({"sku": "card", "name": "A card", "kind": "codes", "price": price, "hold_seconds": 1});
    program.products(&card).await;
    program.stock("card", 1).await;
    let api = process(&program, "api", "api").await;
    let first = process(&program, "first", "housekeeper").await;
    let second = process(&program, "second", "housekeeper").await;
    first.kill9().await;
    let killed = Instant::now();

    let client = program.client();
    let receipt = client.place("buyer", &[("card", 1)]).await.unwrap().with_status(201).receipt();
    let order = client.get_waiting(&receipt, 30).await.unwrap().with_status(200);
    assert_eq!(order.order_status(), "expired", "{}", order.text);
    assert!(killed.elapsed() < WITHIN, "{:?}", killed.elapsed());
    close(program, vec![api, second]).await;
}
