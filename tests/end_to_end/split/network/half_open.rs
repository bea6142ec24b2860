//! Connections whose other end has vanished: nothing says so, and nothing is answered.

use std::time::{Duration, Instant};

use tessera_testbed::proxy::Way;
use tessera_testbed::{Engine, Scenario};

use super::super::{bought, codes_of};
use super::{Wired, bought_at_last};

/// The broker gives a silent consumer up after two and a half heartbeats, here of 2 s, and hands its messages on.
const BROKER: Scenario = Scenario {
    number: 15,
    fault: "connections to the broker dead without a word",
    until: "everything paid meanwhile is issued",
    bound: Duration::from_secs(15),
};

/// A statement's answer is waited for 6 s, and an issuer that lost its set asks again after that.
const DATABASE: Scenario = Scenario {
    number: 15,
    fault: "connections to the database dead without a word",
    until: "buyers are served and their codes issued",
    bound: Duration::from_secs(20),
};

/// Waiting for a connection is bounded by 5 s, waiting for a statement's answer by 6 s.
const TOLD_WITHIN: Duration = Duration::from_secs(14);

/// Far above what placing and paying take.
const AT_ONCE: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_connections_to_the_broker_hold_up_no_payment_and_are_noticed_by_their_heartbeats() {
    let mut shop = Wired::selling(50).await;
    shop.broker_url = super::super::with_heartbeat(&shop.broker_url, 2);
    let processes = shop.processes().await;
    let client = shop.program.client();
    let mut receipts = bought(&client, 5).await;
    codes_of(&client, &receipts).await;

    shop.broker.strand();
    let vanished = Instant::now();
    receipts.extend(bought(&client, 20).await);
    assert!(vanished.elapsed() < AT_ONCE, "paid after {:?}", vanished.elapsed());
    codes_of(&client, &receipts).await;
    BROKER.recovered(Engine::Postgres, vanished.elapsed());
    assert_eq!(client.look("/readyz").await.unwrap().status, 200);
    shop.close(processes, receipts.len()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_connections_to_the_database_give_their_places_back_and_buyers_are_served() {
    let mut shop = Wired::selling(200).await;
    // Few enough that each of them is in use.
    shop.program = shop.program.with("DATABASE__CONNECTIONS", "2");
    let processes = shop.processes().await;
    let client = shop.program.client();
    let mut receipts = bought_at_last(&client, "before", 5).await;
    codes_of(&client, &receipts).await;

    // They vanish in the middle of what is under way.
    let crowd = tokio::spawn({
        let client = client.clone();
        async move { bought_at_last(&client, "meanwhile", 100).await }
    });
    while shop.program.number("SELECT count(*) FROM orders").await < 20 {}
    shop.database.strand();
    let vanished = Instant::now();
    receipts.extend(crowd.await.unwrap());
    receipts.extend(bought_at_last(&client, "after", 5).await);
    codes_of(&client, &receipts).await;
    DATABASE.recovered(Engine::Postgres, vanished.elapsed());
    shop.close(processes, receipts.len()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_database_is_told_to_buyers_in_time_and_used_again_when_it_speaks() {
    let shop = Wired::selling(20).await;
    let processes = shop.processes().await;
    let client = shop.program.client();
    let mut receipts = bought(&client, 3).await;

    shop.database.hold(Way::Both);
    let silent = Instant::now();
    let told = client.place("somebody", &[("card", 1)]).await.unwrap();
    assert_eq!((told.status, told.problem()), (503, "unavailable"), "{}", told.text);
    assert!(silent.elapsed() < TOLD_WITHIN, "told after {:?}", silent.elapsed());

    shop.database.release();
    receipts.extend(bought_at_last(&client, "after", 5).await);
    codes_of(&client, &receipts).await;
    // What was not answered may have been placed all the same, once the server read on.
    let stored = shop.program.number("SELECT count(*) FROM orders").await;
    let stored = usize::try_from(stored).unwrap();
    assert!((receipts.len()..=receipts.len() + 1).contains(&stored), "{stored} orders");
    shop.close(processes, stored).await;
}
