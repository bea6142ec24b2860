//! An active issuer and a standby.

use std::collections::HashSet;
use std::sync::Arc;

use tessera_testbed::program::Receipt;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{FRONT, close, codes_of, process, selling};

const ORDERS: usize = 1_000;
const CLIENTS: usize = 16;

/// How many orders are paid when the active issuer is killed.
const KILL_AT: usize = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_issuer_is_followed_by_its_standby_and_every_order_gets_its_code() {
    let program = selling(ORDERS).await;
    let front = process(&program, "front", FRONT).await;
    let active = process(&program, "first", "issuer").await;
    let standby = process(&program, "second", "issuer").await;

    let paid = Arc::new(watch::Sender::new(0));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let (client, paid) = (program.client(), Arc::clone(&paid));
        clients.spawn(async move {
            let mut receipts: Vec<Receipt> = vec![];
            for buyer in (number..ORDERS).step_by(CLIENTS) {
                let placed = client.place(&format!("buyer-{buyer}"), &[("card", 1)]).await.unwrap();
                let receipt = placed.with_status(201).receipt();
                let answer = client.pay(&receipt).await.unwrap();
                assert!(matches!(answer.status, 200 | 202), "{}", answer.text);
                paid.send_modify(|count| *count += 1);
                receipts.push(receipt);
            }
            receipts
        });
    }
    paid.subscribe().wait_for(|count| *count >= KILL_AT).await.unwrap();
    active.kill9().await;
    let receipts: Vec<Receipt> = clients.join_all().await.into_iter().flatten().collect();

    let codes = codes_of(&program.client(), &receipts).await;
    assert_eq!(codes.len(), ORDERS);
    assert_eq!(codes.into_iter().collect::<HashSet<_>>().len(), ORDERS, "a code went out twice");
    close(program, vec![front, standby]).await;
}
