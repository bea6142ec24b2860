//! A sale under random kills: `tessera-bench chaos` holds a longer one.

use std::time::Duration;

use tessera_testbed::Engine;
use tessera_testbed::chaos::{Plan, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_killed_no_paid_order_is_lost_and_no_code_is_sold_twice() {
    let engine = Engine::of_this_run();
    let (lasts, every) = match engine {
        Engine::Sqlite => (Duration::from_secs(6), Duration::from_secs(1)),
        Engine::Postgres => (Duration::from_secs(20), Duration::from_secs(3)),
    };
    let report = run(&Plan { engine, lasts, every, buyers: 8, seed: 0x7e55_e2a4 }).await;
    assert!(report.issued > 50, "the buyers got nowhere: {report:?}");
}
