//! Messages that are lost, and a broker that is away.

use std::time::{Duration, Instant};

use tessera_testbed::program::Program;
use tessera_testbed::servers::{DECLARED_AFTER, Own};
use tessera_testbed::{Database, Engine, Queues, Scenario};

use super::{FRONT, bought, close, codes_of, process, selling, stock};

/// Far below any wait for a broker, far above what placing and paying take.
const AT_ONCE: Duration = Duration::from_secs(4);

/// It is connected to within 5 s, and what nobody was told of is found within 5 s more.
const DEAD: Scenario = Scenario {
    number: 6,
    fault: "the broker killed and started again",
    until: "500 orders are issued",
    bound: Duration::from_secs(18),
};

/// Case P82: a message that could not be sent was logged and no more, and the paid order was never filled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payments_are_taken_while_the_broker_is_dead_and_issued_once_it_is_back() {
    let rabbit = Own::rabbit().await;
    let program = Program::on(Database::create().await, Queues::at(rabbit.url().to_owned()));
    stock(&program, 505).await;
    let server = program.serve().await;
    let client = program.client();
    let before = bought(&client, 5).await;
    codes_of(&client, &before).await;

    tokio::time::sleep(DECLARED_AFTER).await;
    rabbit.kill().await;
    let begun = Instant::now();
    let mut receipts = bought(&client, 50).await;
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    receipts.extend(bought(&client, 450).await);
    client.look("/readyz").await.unwrap();

    rabbit.start().await;
    let started = Instant::now();
    assert_eq!(codes_of(&client, &receipts).await.len(), 500);
    DEAD.recovered(Engine::Postgres, started.elapsed());
    program.close(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purged_queue_costs_seconds() {
    let program = selling(200).await;
    let queues = &program.servers().queues;
    let declared = process(&program, "first", "issuer").await;
    assert_eq!(declared.terminate().await.code, Some(0));
    let front = process(&program, "front", FRONT).await;
    let client = program.client();
    let receipts = bought(&client, 200).await;
    while queues.ready(0).await < 200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(queues.purge(0).await >= 200);
    let purged = Instant::now();
    let issuer = process(&program, "second", "issuer").await;
    assert_eq!(codes_of(&client, &receipts).await.len(), 200);
    assert!(purged.elapsed() < Duration::from_secs(10), "{:?}", purged.elapsed());
    close(program, vec![front, issuer]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_without_any_issuer_takes_payments_and_is_ready() {
    let program = selling(3).await;
    // Nobody has declared an exchange yet.
    let front = process(&program, "front", FRONT).await;
    let client = program.client();
    let receipts = bought(&client, 3).await;
    assert_eq!(client.look("/readyz").await.unwrap().status, 200);
    let issuer = process(&program, "issuer", "issuer").await;
    assert_eq!(codes_of(&client, &receipts).await.len(), 3);
    close(program, vec![front, issuer]).await;
}
