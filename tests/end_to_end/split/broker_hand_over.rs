//! One issuer after another with a batch in flight, and one that stood still for longer than its heartbeats last.

use std::time::{Duration, Instant};

use sqlx::PgConnection;
use tessera_testbed::program::{Process, Program, Receipt};
use tessera_testbed::{Engine, Scenario};
use tokio::time::sleep;

use super::{FRONT, bought, close, codes_of, process, selling, with_heartbeat};

/// The issuer waits for a lock that the test holds.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// Orders in flight, each of which is tried alone by the next issuer.
const IN_FLIGHT: usize = 25;

const TERMINATED: Scenario = Scenario {
    number: 11,
    fault: "SIGTERM to the issuer within a set, a standby waiting",
    until: "all issued",
    bound: Duration::from_secs(12),
};

/// The server ends what a dead client left within a second or two.
const KILLED: Scenario = Scenario {
    number: 11,
    fault: "SIGKILL to the issuer within a set, a standby waiting",
    until: "all issued",
    bound: Duration::from_secs(15),
};

/// Twice as long as the broker waits for a heartbeat of 1 s.
const STARVED_FOR: Duration = Duration::from_secs(4);

const STARVED: Scenario = Scenario {
    number: 44,
    fault: "the issuer stood still for four heartbeats",
    until: "all issued after it went on",
    bound: Duration::from_secs(12),
};

/// A shop whose active issuer stands within a set's transaction until the lock is let go.
async fn in_flight(program: &Program, hand: &mut PgConnection) -> (Vec<Process>, Vec<Receipt>) {
    let front = process(program, "front", FRONT).await;
    let active = process(program, "first", "issuer").await;
    let standby = process(program, "second", "issuer").await;
    sqlx::raw_sql("BEGIN; SELECT id FROM batch FOR UPDATE").execute(hand).await.unwrap();
    let receipts = bought(&program.client(), IN_FLIGHT).await;
    while program.number(WAITING).await == 0 {
        sleep(Duration::from_millis(10)).await;
    }
    (vec![front, standby, active], receipts)
}

async fn let_go(hand: &mut PgConnection) {
    sqlx::raw_sql("ROLLBACK").execute(hand).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issuer_told_to_end_finishes_its_set_and_its_standby_has_the_rest() {
    let program = selling(2 * IN_FLIGHT).await;
    let mut hand = program.servers().database.connect().await;
    let (mut processes, mut receipts) = in_flight(&program, &mut hand).await;
    let active = processes.pop().unwrap();
    let told = Instant::now();
    active.signal_terminate();
    let_go(&mut hand).await;
    receipts.extend(bought(&program.client(), IN_FLIGHT).await);
    codes_of(&program.client(), &receipts).await;
    TERMINATED.recovered(Engine::Postgres, told.elapsed());
    assert_eq!(active.ended().await.code, Some(0));
    close(program, processes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issuer_killed_within_a_set_leaves_it_whole_to_its_standby() {
    let program = selling(2 * IN_FLIGHT).await;
    let mut hand = program.servers().database.connect().await;
    let (mut processes, mut receipts) = in_flight(&program, &mut hand).await;
    let active = processes.pop().unwrap();
    let killed = Instant::now();
    active.kill9().await;
    let_go(&mut hand).await;
    receipts.extend(bought(&program.client(), IN_FLIGHT).await);
    codes_of(&program.client(), &receipts).await;
    KILLED.recovered(Engine::Postgres, killed.elapsed());
    close(program, processes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issuer_that_missed_its_heartbeats_connects_again_and_issues_nothing_twice() {
    let program = selling(2 * IN_FLIGHT).await;
    let front = process(&program, "front", FRONT).await;
    let mut line = program.line_elsewhere("issuer", &["serve", "--role", "issuer"]);
    line.env("TESSERA_BROKER__URL", with_heartbeat(program.servers().queues.url(), 1));
    let issuer = program.start_line(line);
    issuer.until_line("ready").await;
    let mut receipts = bought(&program.client(), IN_FLIGHT).await;
    issuer.freeze();
    receipts.extend(bought(&program.client(), IN_FLIGHT).await);
    sleep(STARVED_FOR).await;
    issuer.thaw();
    let thawed = Instant::now();
    codes_of(&program.client(), &receipts).await;
    STARVED.recovered(Engine::Postgres, thawed.elapsed());
    issuer.until_said_often("the broker is away", 1).await;
    close(program, vec![front, issuer]).await;
}
