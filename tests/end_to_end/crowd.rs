//! A crowd buys a flash sale out.

use std::collections::{HashMap, HashSet};

use serde_json::json;
use tessera_testbed::program::{Program, Receipt};
use tokio::task::JoinSet;

const STOCK: usize = 300;
const BUYERS: usize = 340;
const TASKS: usize = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_gets_each_code_once_and_reads_it_again_after_a_kill() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 9_900, "currency": "CNY"});
    let place = json!({"sku": "place", "name": "A place", "kind": "codes", "price": price,
        "per_customer_limit": 1, "pick": "random"});
    program.products(&place).await;
    let imported: HashSet<String> = program.stock("place", STOCK).await.into_iter().collect();
    let server = program.serve().await;

    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let client = program.client();
        tasks.spawn(async move {
            let mut served: Vec<(Receipt, Vec<String>)> = vec![];
            let mut refused = 0;
            for buyer in (task..BUYERS).step_by(TASKS) {
                let placed = client.place(&format!("buyer-{buyer}"), &[("place", 1)]).await.unwrap();
                if placed.status == 409 {
                    assert_eq!(placed.problem(), "sold-out");
                    refused += 1;
                    continue;
                }
                let receipt = placed.with_status(201).receipt();
                let paid = client.pay_waiting(&receipt, 5).await.unwrap().with_status(200);
                assert_eq!((paid.order_status(), paid.codes().len()), ("issued", 1));
                served.push((receipt, paid.codes()));
            }
            (served, refused)
        });
    }
    let mut served: HashMap<Receipt, Vec<String>> = HashMap::new();
    let mut refused = 0;
    while let Some(done) = tasks.join_next().await {
        let (some, none) = done.unwrap();
        served.extend(some);
        refused += none;
    }
    assert_eq!((served.len(), refused), (STOCK, BUYERS - STOCK));
    let codes: HashSet<String> = served.values().flatten().cloned().collect();
    assert_eq!(codes, imported);

    server.kill9().await;
    let server = program.serve().await;
    let client = program.client();
    for (receipt, codes) in &served {
        let again = client.get(receipt).await.unwrap().with_status(200);
        assert_eq!(&again.codes(), codes);
    }
    program.close(server).await;
}
