//! What comes right without the sweeper: it rests for an hour here, so that it hides nothing.

use std::time::{Duration, Instant};

use tessera_testbed::program::{Process, Program};
use tessera_testbed::{Engine, Scenario};

use super::{FRONT, bought, close, codes_of, selling};

/// A process that neither sweeps nor, at a point, lives on.
async fn resting(program: &Program, host: &str, roles: &str, fault: &[(&str, &str)]) -> Process {
    let variables = [&[("TEST_SWEEPER", "rests")], fault].concat();
    let line = program.line_faulty(&variables, &["serve", "--role", roles]);
    let process = program.start_line(program.elsewhere(host, line));
    process.until_line("ready").await;
    process
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_issuer_had_in_hand_when_it_was_killed_comes_again_by_itself() {
    for (number, point) in [(1, "BeforeCommit"), (2, "AfterCommit"), (3, "BeforeAcknowledge")] {
        let program = selling(5).await;
        let front = resting(&program, "front", FRONT, &[]).await;
        let fault = format!("issue/{point}=kill");
        let active = resting(&program, "first", "issuer", &[("TEST_FAULT", &fault)]).await;
        let standby = resting(&program, "second", "issuer", &[]).await;
        let receipts = bought(&program.client(), 5).await;
        active.until_said_often("fault point", 1).await;
        active.ended().await;
        let killed = Instant::now();
        assert_eq!(codes_of(&program.client(), &receipts).await.len(), 5);
        let scenario = Scenario {
            number,
            fault: match number {
                1 => "issuer killed before its commit",
                2 => "issuer killed between commit and acknowledgement",
                _ => "issuer killed before it acknowledges a set",
            },
            until: "all issued, without the sweeper",
            bound: Duration::from_secs(5),
        };
        scenario.recovered(Engine::Postgres, killed.elapsed());
        close(program, vec![front, standby]).await;
    }
}
