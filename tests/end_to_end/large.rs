//! Orders of many codes, and a backlog of many orders.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;
use tessera_testbed::program::{Program, Receipt};
use tokio::task::JoinSet;

const LARGE: usize = 5_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_of_thousands_is_answered_at_once_and_read_in_stretches() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 0, "currency": "CNY"});
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    let imported = program.stock("card", LARGE + 10).await;
    let server = program.serve().await;
    let client = program.client();
    let quantity = i64::try_from(LARGE).unwrap();
    let receipt = client.place("buyer", &[("card", quantity)]).await.unwrap().with_status(201).receipt();
    let order = client.get_waiting(&receipt, 10).await.unwrap().with_status(200);
    assert_eq!((order.order_status(), order.codes().len()), ("issued", 1_000));
    assert_eq!(order.codes(), imported[..1_000]);

    let (mut read, mut after) = (vec![], json!(0));
    while after.is_i64() {
        let part = format!("/codes?after={after}&limit=999");
        let page = client.get_part(&receipt, &part, &[]).await.unwrap().with_status(200).body;
        assert_eq!(page["total"], json!(LARGE));
        for code in page["codes"].as_array().unwrap() {
            assert_eq!(code["position"], json!(read.len() + 1));
            read.push(code["code"].as_str().unwrap().to_owned());
        }
        after = page["next"].clone();
    }
    assert_eq!(read, imported[..LARGE]);
    let text = client.get_part(&receipt, "/codes", &[("accept", "text/plain")]).await.unwrap().text;
    assert_eq!(text.lines().collect::<Vec<_>>(), imported[..LARGE]);
    let csv = client.get_part(&receipt, "/codes", &[("accept", "text/csv")]).await.unwrap().text;
    assert_eq!(csv.lines().next(), Some(format!("card,\"{}\"", imported[0]).as_str()));
    assert_eq!(csv.lines().count(), LARGE);
    for part in ["/codes?limit=0", "/codes?limit=1001", "/codes?after=-1", "/codes?after=x"] {
        let refused = client.get_part(&receipt, part, &[]).await.unwrap();
        assert_eq!(refused.problem(), "invalid-request", "{part}");
    }
    let stranger = Receipt { token: format!("{}x", receipt.token), ..receipt };
    assert_eq!(client.get_part(&stranger, "/codes", &[]).await.unwrap().status, 404);
    program.close(server).await;
}

/// Orders that wait for stock which then comes at once: more than a set, and more than a look of the sweeper.
const BACKLOG: usize = 1_500;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_waitlist_is_filled_in_order_over_a_kill() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 0, "currency": "CNY"});
    let product =
        json!({"sku": "card", "name": "A card", "kind": "codes", "price": price, "backorders": true});
    program.products(&product).await;
    let server = program.serve().await;
    let mut placing = JoinSet::new();
    for task in 0..16 {
        let client = program.client();
        placing.spawn(async move {
            let mut placed = vec![];
            for buyer in (task..BACKLOG).step_by(16) {
                let answer = client.place(&format!("buyer-{buyer}"), &[("card", 1)]).await.unwrap();
                placed.push(answer.with_status(201).receipt());
            }
            placed
        });
    }
    let placed: Vec<Receipt> = placing.join_all().await.into_iter().flatten().collect();
    let imported = program.stock("card", BACKLOG).await;
    server.kill9().await;
    let server = program.serve().await;
    let issued = async {
        while program.number("SELECT count(*) FROM orders WHERE status <> 'issued'").await > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), issued).await.expect("the waitlist is filled in time");
    let client = program.client();
    let mut codes = HashSet::new();
    for receipt in &placed {
        codes.extend(client.get(receipt).await.unwrap().with_status(200).codes());
    }
    assert_eq!(codes, imported.into_iter().collect());
    let turns = "SELECT count(*) FROM (SELECT s.upto, row_number() OVER (ORDER BY o.paid_at, o.id) AS turn \
                 FROM span s JOIN orders o ON o.id = s.order_id) AS turns WHERE upto <> turn";
    assert_eq!(program.number(turns).await, 0, "somebody was served out of turn");
    program.close(server).await;
}
