//! Roles in processes of their own, on PostgreSQL and RabbitMQ.

use serde_json::json;
use tessera_testbed::program::{Client, Process, Program, Receipt};
use tokio::task::JoinSet;

mod archive;
mod broker_bodies;
mod broker_hand_over;
mod broker_queues;
mod broker_restarts;
mod database_away;
mod database_places;
mod first_orders;
mod frozen;
mod hang_ups;
mod housekeepers;
mod issuers;
mod messages;
mod network;
mod one_process;
mod operation;
mod partitions;
mod starting;
mod stopping;
mod unaided;

/// Every role but the issuer's.
const FRONT: &str = "api,courier,housekeeper";

/// A program on servers that sells `card`, with so many codes of it.
async fn selling(count: usize) -> Program {
    let program = Program::on_servers();
    stock(&program, count).await;
    program
}

async fn stock(program: &Program, count: usize) {
    let price = json!({"minor": 1_990, "currency": "CNY"});
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    program.stock("card", count).await;
}

/// A process with these roles on a host of its own, once it is ready.
async fn process(program: &Program, host: &str, roles: &str) -> Process {
    let process = program.start_line(program.line_elsewhere(host, &["serve", "--role", roles]));
    process.until_line("ready").await;
    process
}

/// Places and pays so many orders of one card, without waiting for codes.
async fn bought(client: &Client, count: usize) -> Vec<Receipt> {
    let mut tasks = JoinSet::new();
    for buyer in 0..count {
        let client = client.clone();
        tasks.spawn(async move {
            let placed = client.place(&format!("buyer-{buyer}"), &[("card", 1)]).await.unwrap();
            let receipt = placed.with_status(201).receipt();
            let paid = client.pay(&receipt).await.unwrap();
            assert!(matches!(paid.status, 200 | 202), "{}: {}", paid.status, paid.text);
            receipt
        });
    }
    tasks.join_all().await
}

/// Waits until every one of these orders has its codes; returns all codes.
async fn codes_of(client: &Client, receipts: &[Receipt]) -> Vec<String> {
    let mut codes = vec![];
    for receipt in receipts {
        let order = client.get_waiting(receipt, 30).await.unwrap().with_status(200);
        assert_eq!(order.order_status(), "issued", "{}", order.text);
        codes.extend(order.codes());
    }
    codes
}

/// The broker's address with a heartbeat of so many seconds.
fn with_heartbeat(url: &str, seconds: u8) -> String {
    let and = if url.contains('?') { '&' } else { '?' };
    format!("{url}{and}heartbeat={seconds}")
}

/// Ends processes well, each within ten seconds, and closes the program.
async fn close(program: Program, processes: Vec<Process>) {
    for process in processes {
        let ended = process.terminate().await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.took.as_secs() < 10, "{:?}", ended.took);
    }
    program.close_stopped().await;
}
