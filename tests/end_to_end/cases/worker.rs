//! Holds that nobody looks after for a while.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_testbed::program::{Program, Receipt};

/// Two seconds, as the products here say.
const HOLD: Duration = Duration::from_secs(2);

/// A hold is expired within 2 s of its end; one second is left for a loaded machine.
const EXPIRED_WITHIN: Duration = Duration::from_secs(3);

const EXPIRED: &str = "SELECT count(*) FROM orders WHERE status = 'expired'";
const CLAIMED: &str = "SELECT sum(claimed) FROM stock";

async fn one_place() -> Program {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    let place =
        json!({"sku": "place", "name": "A place", "kind": "codes", "price": price, "hold_seconds": 2});
    program.products(&place).await;
    program.stock("place", 1).await;
    program
}

async fn taken(program: &Program, buyer: &str) -> Receipt {
    program.client().place(buyer, &[("place", 1)]).await.unwrap().with_status(201).receipt()
}

/// Waits until the order has expired, asking nothing of the server; returns how long that took.
async fn until_expired(program: &Program) -> Duration {
    let begun = Instant::now();
    while program.number(EXPIRED).await == 0 {
        assert!(begun.elapsed() < HOLD + EXPIRED_WITHIN, "the hold does not end");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    begun.elapsed()
}

/// Case P35: nothing came back on sale, for the worker that expires orders was not running.
#[tokio::test]
async fn a_hold_that_ended_while_nothing_ran_is_given_back_in_time_after_the_start() {
    let program = one_place().await;
    let server = program.serve().await;
    let receipt = taken(&program, "ann").await;
    server.kill9().await;
    // The hold ends while nothing runs; time itself is what has to pass.
    tokio::time::sleep(HOLD + Duration::from_millis(100)).await;
    assert_eq!((program.number(EXPIRED).await, program.number(CLAIMED).await), (0, 1));
    let server = program.serve().await;
    let took = until_expired(&program).await;
    assert!(took < EXPIRED_WITHIN, "{took:?}");
    let order = program.client().get(&receipt).await.unwrap().with_status(200);
    assert_eq!(order.order_status(), "expired");
    taken(&program, "ben").await;
    program.close(server).await;
}

/// Case P43: a hold ended only when somebody looked at the shop.
#[tokio::test]
async fn a_hold_ends_in_time_while_nobody_asks_anything() {
    let program = one_place().await;
    let server = program.serve().await;
    taken(&program, "ann").await;
    let took = until_expired(&program).await;
    assert!((HOLD / 2..HOLD + EXPIRED_WITHIN).contains(&took), "{took:?}");
    assert_eq!(program.number(CLAIMED).await, 0);
    taken(&program, "ben").await;
    program.close(server).await;
}
