//! No room for the file.
//!
//! A limit to the size of files needs no right and is tried everywhere; a disk that is really full is a small
//! one in memory, where the system lets this test mount it.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tessera_testbed::program::{Answer, Client, Process, Program, Receipt};
use tessera_testbed::{Engine, Scenario};

use super::{DAMAGES, bought, bought_at_last, paid_at_last, selling};
use crate::faults::told_to_come_again;

/// A paused issuer asks again within 5 s, and what nobody heard of is found within 5 s.
const NO_GROWTH: Scenario = Scenario {
    number: 40,
    fault: "the file cannot grow",
    until: "orders are taken and issued",
    bound: Duration::from_secs(12),
};

const DISK_FULL: Scenario = Scenario { fault: "the disk is full", ..NO_GROWTH };

/// How long an answer may take while there is no room.
const TOLD_WITHIN: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_grow_is_told_to_buyers_and_goes_on_when_it_can() {
    let program = selling(20).await;
    // What tries to write beyond the limit is told by an error, not ended by a signal.
    let server = program.start_line(program.line_after("trap '' XFSZ", &["serve"]));
    server.until_line("ready").await;
    bought(&program.client(), "before").await;
    let unpaid = program.client().place("unpaid", &[("card", 1)]).await.unwrap().with_status(201).receipt();

    // Beyond its first page, where the log is written in any case.
    server.limit_files(Some(4_096));
    refused(&program.client(), &unpaid).await;
    server.limit_files(None);
    served_again(&program, server, &unpaid, &NO_GROWTH).await;
    program.close_stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_told_to_buyers_and_work_goes_on_when_there_is_room() {
    let program = Program::embedded();
    let Some(disk) = Disk::mount(&program.data()) else {
        println!(
            "nothing may be mounted here: that a full disk is survived is shown by the limit on files alone"
        );
        return program.close_empty();
    };
    let program = super::offering(program, 1_990, &serde_json::json!({})).await;
    program.stock("card", 20).await;
    let server = program.serve().await;
    bought(&program.client(), "before").await;
    let unpaid = program.client().place("unpaid", &[("card", 1)]).await.unwrap().with_status(201).receipt();

    disk.fill();
    until_refused(&program.client()).await;
    refused(&program.client(), &unpaid).await;
    let doctor = program.command(&["doctor"]).await;
    assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("see that the database can be reached and written"), "{}", doctor.stdout);
    disk.make_room();
    served_again(&program, server, &unpaid, &DISK_FULL).await;
    program.close_stopped().await;
}

/// What is left of the log's file is still written over; an order more needs new room.
async fn until_refused(client: &Client) {
    for number in 0..10_000 {
        let placed = client.place(&format!("crowd-{number}"), &[("card", 1)]).await.unwrap();
        if placed.status == 503 {
            return;
        }
        let receipt = placed.with_status(201).receipt();
        if client.cancel(&receipt).await.unwrap().status == 503 {
            return;
        }
    }
    panic!("the disk is not full");
}

/// Buyers are told to come again, at once, and can still look.
async fn refused(client: &Client, unpaid: &Receipt) {
    let asked = Instant::now();
    told_to_come_again(&client.place_keyed("key-of-the-refused", "refused", &[("card", 1)]).await.unwrap());
    told_to_come_again(&client.pay(unpaid).await.unwrap());
    told_to_come_again(&client.cancel(unpaid).await.unwrap());
    assert_eq!(client.get(unpaid).await.unwrap().with_status(200).order_status(), "awaiting_payment");
    assert_eq!(client.look("/v1/products/card").await.unwrap().status, 200);
    let ready: Answer = client.look("/readyz").await.unwrap();
    assert_eq!(ready.status, 503, "{}", ready.text);
    assert_eq!(client.look("/healthz").await.unwrap().status, 200);
    assert!(asked.elapsed() < TOLD_WITHIN, "it took {:?}", asked.elapsed());
}

/// The same server takes orders again, and has lost and doubled nothing.
async fn served_again(program: &Program, server: Process, unpaid: &Receipt, scenario: &Scenario) {
    let room = Instant::now();
    let client = program.client();
    paid_at_last(&client, unpaid).await;
    bought_at_last(&client, "key-of-the-refused").await;
    scenario.recovered(Engine::Sqlite, room.elapsed());
    assert_eq!(program.number("SELECT count(*) FROM payment").await, 3);
    assert_eq!(program.number("SELECT count(*) FROM span WHERE kind = 'issue'").await, 3);
    let ended = server.terminate().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(program.number(DAMAGES).await, 0, "the file is damaged");
}

/// A small disk in memory; unmounted when dropped.
struct Disk(TempDir);

impl Disk {
    /// Mounts one as the data folder of a program, if the system lets us.
    fn mount(data: &Path) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=12m,mode=700", "tessera-test"]).arg(folder.path());
        mount.output().is_ok_and(|done| done.status.success()).then_some(())?;
        let disk = Self(folder);
        symlink(disk.0.path(), data).unwrap();
        Some(disk)
    }

    fn ballast(&self) -> PathBuf {
        self.0.path().join("ballast")
    }

    /// Writes until nothing more goes in.
    fn fill(&self) {
        let full = std::fs::write(self.ballast(), vec![7; 16 * 1024 * 1024]);
        assert!(full.is_err(), "the disk took more than it has");
    }

    fn make_room(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // At once or as soon as the last file on it is closed.
        let _unmounted = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}
