//! Another process holds the file: its lock to write, or an old reading of it.

use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tessera_testbed::program::Program;
use tessera_testbed::{Engine, Scenario};
use tokio::task::JoinSet;

use super::{bought, bought_at_last, log_bytes, selling};
use crate::faults::told_to_come_again;

/// How long the lock to write is held: longer than a statement waits for it.
const HELD: Duration = Duration::from_secs(8);

/// How long an answer may take meanwhile.
const TOLD_WITHIN: Duration = Duration::from_secs(15);

const WRITES_AGAIN: Scenario = Scenario {
    number: 41,
    fault: "another process holds the lock to write for 8 s",
    until: "orders are taken and issued",
    bound: Duration::from_secs(12),
};

const LOG_CUT_BACK: Scenario = Scenario {
    number: 41,
    fault: "another process reads on while 80 MB are written",
    until: "the log is back at its bound",
    bound: Duration::from_secs(10),
};

const BUYERS: usize = 20;

/// What the log is cut back to after a burst, in bytes; the store sets it.
const LOG_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What fills the log, and leaves the file as it was.
const BURST: &str = "CREATE TABLE burst (x); INSERT INTO burst VALUES (zeroblob(80000000)); DROP TABLE burst";

/// What the longest set adds to it.
const SET_BYTES_MAX: u64 = 8 * 1024 * 1024;

async fn connected(program: &Program) -> SqliteConnection {
    SqliteConnectOptions::new().filename(program.data().join("tessera.db")).connect().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_held_by_another_process_is_told_to_buyers_in_time() {
    let program = selling(BUYERS + 2).await;
    let server = program.serve().await;
    bought(&program.client(), "before").await;
    let mut other = connected(&program).await;
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let locked = Instant::now();
    let mut asking = JoinSet::new();
    for number in 0..BUYERS {
        let client = program.client();
        asking.spawn(async move {
            // Half of them come while others wait already.
            tokio::time::sleep(Duration::from_secs(if number % 2 == 0 { 0 } else { 2 })).await;
            let asked = Instant::now();
            let key = format!("key-of-buyer-{number}");
            let placed = client.place_keyed(&key, &key, &[("card", 1)]).await.unwrap();
            assert!(asked.elapsed() < TOLD_WITHIN, "it took {:?}", asked.elapsed());
            if placed.status != 201 {
                told_to_come_again(&placed);
            }
            placed.status
        });
    }
    assert_eq!(program.client().look("/v1/products/card").await.unwrap().status, 200, "nobody can look");
    assert!(locked.elapsed() < Duration::from_secs(2), "who only looks waits for the lock");
    tokio::time::sleep(HELD.saturating_sub(locked.elapsed())).await;
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    let free = Instant::now();
    bought_at_last(&program.client(), "key-of-the-next").await;
    WRITES_AGAIN.recovered(Engine::Sqlite, free.elapsed());
    let refused = asking.join_all().await.into_iter().filter(|status| *status == 503).count();
    assert!(refused > 0, "nobody was told that the file is locked");
    for number in 0..BUYERS {
        bought_at_last(&program.client(), &format!("key-of-buyer-{number}")).await;
    }
    let orders = program.number("SELECT count(*) FROM orders").await;
    assert_eq!(usize::try_from(orders), Ok(BUYERS + 2), "a key made two orders");
    other.close().await.unwrap();
    program.close(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_an_old_reader_lets_grow_is_cut_back_when_it_ends() {
    let program = selling(100).await;
    let server = program.serve().await;
    let mut reader = connected(&program).await;
    sqlx::raw_sql("BEGIN; SELECT count(*) FROM orders").execute(&mut reader).await.unwrap();
    let mut writer = connected(&program).await;
    sqlx::raw_sql(BURST).execute(&mut writer).await.unwrap();
    writer.close().await.unwrap();
    bought(&program.client(), "beside-the-reader").await;
    let grown = log_bytes(&program);
    assert!(grown > LOG_BYTES_MAX, "the log is only {grown} bytes: it has not grown past its bound");
    reader.close().await.unwrap();
    let ended = Instant::now();
    let mut buyer = 0;
    while log_bytes(&program) > LOG_BYTES_MAX + SET_BYTES_MAX {
        assert!(ended.elapsed() < LOG_CUT_BACK.bound, "{} bytes", log_bytes(&program));
        bought(&program.client(), &format!("buyer-{buyer}")).await;
        buyer += 1;
    }
    LOG_CUT_BACK.recovered(Engine::Sqlite, ended.elapsed());
    program.close(server).await;
}
