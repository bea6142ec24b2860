//! What may happen to the file of a shop in one process: no room, no right to write, another that holds it.
//!
//! About SQLite whatever the run is for.

use std::time::Duration;

use serde_json::json;
use tessera_testbed::program::{Client, PATIENCE, Program, Receipt};

use super::offering;

mod full;
mod locked;
mod read_only;

/// How long an impatient buyer waits before it asks again.
const AGAIN: Duration = Duration::from_millis(100);

/// What SQLite finds wrong with its file.
const DAMAGES: &str = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'";

/// A program on a file that sells `card`, with so many of it.
async fn selling(count: usize) -> Program {
    let program = offering(Program::embedded(), 1_990, &json!({})).await;
    program.stock("card", count).await;
    program
}

/// Places, pays and gets the codes of one order.
async fn bought(client: &Client, buyer: &str) -> Receipt {
    let receipt = client.place(buyer, &[("card", 1)]).await.unwrap().with_status(201).receipt();
    let paid = client.pay_waiting(&receipt, 10).await.unwrap().with_status(200);
    assert_eq!(paid.codes().len(), 1);
    receipt
}

/// Does the same, each request repeated until it is done: what a buyer does through a trouble.
async fn bought_at_last(client: &Client, key: &str) -> Receipt {
    let buying = async {
        let receipt = loop {
            let placed = client.place_keyed(key, key, &[("card", 1)]).await.unwrap();
            if matches!(placed.status, 200 | 201) {
                break placed.receipt();
            }
            super::told_to_come_again(&placed);
            tokio::time::sleep(AGAIN).await;
        };
        paid_at_last(client, &receipt).await;
        receipt
    };
    tokio::time::timeout(PATIENCE, buying).await.expect("it is taken again")
}

/// Pays until the codes are there.
async fn paid_at_last(client: &Client, receipt: &Receipt) {
    loop {
        let paid = client.pay_waiting(receipt, 10).await.unwrap();
        match paid.status {
            200 => return assert_eq!(paid.codes().len(), 1, "{}", paid.text),
            202 => {}
            _ => super::told_to_come_again(&paid),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// The size of the file's log in bytes.
fn log_bytes(program: &Program) -> u64 {
    std::fs::metadata(program.data().join("tessera.db-wal")).map_or(0, |meta| meta.len())
}
