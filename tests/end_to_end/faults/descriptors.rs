//! A process that may open hardly any files and sockets.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_testbed::program::Program;
use tessera_testbed::{Engine, Scenario};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::offering;

const ALL_SERVED: Scenario = Scenario {
    number: 46,
    fault: "100 buyers and 4 silent clients at a process with 64 descriptors",
    until: "all have their codes",
    bound: Duration::from_secs(30),
};

const BUYERS: usize = 100;

/// Clients that connect and say nothing; each keeps its place until its time for a request is over.
const SILENT: usize = 4;

/// Where a buyer who would keep its connection for ever is let go, it asks once more.
const TURNS: usize = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_is_served_by_a_process_that_is_short_of_descriptors() {
    let program = offering(Program::default(), 1_990, &json!({})).await;
    program.stock("card", BUYERS * TURNS + 1).await;
    let server = program.start_line(program.line_after("ulimit -n 64", &["serve"]));
    server.until_line("ready").await;
    let mut silent = vec![];
    for _ in 0..SILENT {
        silent.push(TcpStream::connect(program.listen()).await.unwrap());
    }
    let since = Instant::now();
    let mut buyers = JoinSet::new();
    for number in 0..BUYERS {
        let client = program.client();
        buyers.spawn(async move {
            for turn in 0..TURNS {
                let buyer = format!("buyer-{number}-{turn}");
                let receipt = client.place(&buyer, &[("card", 1)]).await.unwrap().with_status(201).receipt();
                let paid = client.pay_waiting(&receipt, 30).await.unwrap().with_status(200);
                assert_eq!(paid.codes().len(), 1);
            }
            // It stays, and has nothing more to ask.
            client
        });
    }
    let _stayed = buyers.join_all().await;
    ALL_SERVED.recovered(Engine::of_this_run(), since.elapsed());
    assert!(server.descriptors() < 64, "{} descriptors", server.descriptors());
    let client = program.client();
    let receipt = client.place("the-last", &[("card", 1)]).await.unwrap().with_status(201).receipt();
    assert_eq!(client.pay_waiting(&receipt, 10).await.unwrap().status, 200);
    let ended = server.terminate().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for said in ["no connection can be accepted", "could not answer", "paused"] {
        assert!(!ended.stderr.contains(said), "{}", ended.stderr);
    }
    program.close_stopped().await;
}
