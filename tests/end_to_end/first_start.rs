//! Kills while the folder is made: whatever is left of it, the next start makes it whole.

use std::process::Command;
use std::time::Duration;

use tessera_testbed::program::{Program, strace_works};

/// Kills of a server that makes its folder, from before it does anything to after it is ready.
const FIRST_STARTS: u64 = 25;

#[tokio::test]
async fn a_first_start_that_is_killed_anywhere_can_be_repeated() {
    for step in 0..FIRST_STARTS {
        let program = Program::embedded();
        let server = program.start(&["serve"]);
        // The moment of the kill is what differs here; there is nothing to wait for.
        tokio::time::sleep(Duration::from_millis(step * 4)).await;
        server.kill9().await;
        let server = program.serve().await;
        program.close(server).await;
    }
}

/// System calls that change what is on the disk, and which of them on a thread ends the process.
const FATAL: &[(&str, &[u32])] = &[
    ("fsync", &[1, 2]),
    ("link,linkat", &[1]),
    ("unlink,unlinkat", &[1]),
    ("fdatasync", &[1, 2, 3, 5, 8]),
    ("pwrite64", &[1, 2, 3, 5, 10, 20, 40]),
];

#[tokio::test]
async fn a_migration_that_is_killed_at_its_writes_can_be_repeated() {
    if !strace_works() {
        println!("there is no strace here: kills at writes are not tried by this run");
        return;
    }
    let mut killed = 0;
    for (call, counts) in FATAL {
        for count in *counts {
            killed += usize::from(migrate_and_kill(call, *count, None).await);
        }
    }
    assert!(killed >= 8, "the calls are others now: {killed} kills");
    // Half a keyring is worse than none.
    for count in 1..=3 {
        migrate_and_kill("write", count, Some("data/keyring.toml")).await;
    }
}

/// Kills a migration at the call so many of a thread, of those on one file or of all; tells whether it died,
/// and fails if another does not make the folder whole.
async fn migrate_and_kill(call: &str, count: u32, file: Option<&str>) -> bool {
    let program = Program::embedded();
    let migrate = program.line(&["migrate"]);
    let mut line = Command::new("strace");
    line.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
    line.args(["-e", &format!("inject={call}:signal=KILL:when={count}")]);
    if let Some(file) = file {
        line.arg("-P").arg(program.folder().join(file));
    }
    line.arg(migrate.get_program()).args(migrate.get_args()).current_dir(program.folder());
    line.envs(migrate.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = program.start_line(line).ended().await;
    program.json(&["migrate"]).await;
    program.close_stopped().await;
    ended.code != Some(0)
}
