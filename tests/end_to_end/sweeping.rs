//! What nobody was told of is found: orders paid right before a kill, stock that came by a command.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_testbed::program::{Process, Program, Receipt};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A paid order without a message is found within 5 s; one second is left for the answers.
const FOUND_WITHIN: Duration = Duration::from_secs(6);

/// Bursts until a kill falls between a payment and its codes.
const BURSTS: usize = 30;

/// Orders paid at once in a burst.
const BURST: usize = 64;

const PAID: &str = "SELECT count(*) FROM orders WHERE status = 'paid'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_whose_message_died_with_the_process_gets_its_codes_in_time() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    program.stock("card", BURSTS * BURST).await;
    for _ in 0..BURSTS {
        let server = program.serve().await;
        let acknowledged = pay_and_kill(&program, server).await;
        // A queue in memory is gone with its process; with RabbitMQ some of these messages may still be there.
        let lost = program.number_of_copy(PAID).await;
        let server = program.serve().await;
        let ready = Instant::now();
        let client = program.client();
        for receipt in &acknowledged {
            let order = client.get_waiting(receipt, 10).await.unwrap().with_status(200);
            assert_eq!(order.order_status(), "issued", "{}", order.text);
        }
        let took = ready.elapsed();
        assert!(took < FOUND_WITHIN, "{lost} lost messages were made good in {took:?}");
        if lost > 0 && !acknowledged.is_empty() {
            assert_eq!(program.number(PAID).await, 0);
            program.close(server).await;
            return;
        }
        server.kill9().await;
    }
    panic!("no kill fell between a payment and its codes");
}

/// Pays a burst of orders and kills the server at the first acknowledgement; returns those acknowledged.
async fn pay_and_kill(program: &Program, server: Process) -> Vec<Receipt> {
    let client = program.client();
    let mut placing = JoinSet::new();
    for buyer in 0..BURST {
        let client = client.clone();
        placing.spawn(async move { client.place(&format!("buyer-{buyer}"), &[("card", 1)]).await });
    }
    let placed: Vec<Receipt> =
        placing.join_all().await.into_iter().map(|a| a.expect("placed").with_status(201).receipt()).collect();
    let first = watch::Sender::new(false);
    let mut paying = JoinSet::new();
    for receipt in placed {
        let (client, first) = (client.clone(), first.clone());
        paying.spawn(async move {
            let paid = client.pay(&receipt).await.ok()?;
            first.send_replace(true);
            matches!(paid.status, 200 | 202).then_some(receipt)
        });
    }
    first.subscribe().wait_for(|first| *first).await.expect("the sender is ours");
    server.kill9().await;
    paying.join_all().await.into_iter().flatten().collect()
}

#[tokio::test]
async fn codes_imported_beside_the_server_fill_the_waitlist_in_time() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    let product =
        json!({"sku": "card", "name": "A card", "kind": "codes", "price": price, "backorders": true});
    program.products(&product).await;
    let server = program.serve().await;
    let client = program.client();
    let mut waiting = vec![];
    for quantity in [2, 1] {
        let placed = client.place("buyer", &[("card", quantity)]).await.unwrap().with_status(201);
        let receipt = placed.receipt();
        let paid = client.pay_waiting(&receipt, 1).await.unwrap().with_status(202);
        assert_eq!(paid.order_status(), "backordered");
        waiting.push(receipt);
    }
    let codes = program.stock("card", 3).await;
    let stocked = Instant::now();
    let mut got = vec![];
    for receipt in &waiting {
        let order = client.get_waiting(receipt, 10).await.unwrap().with_status(200);
        assert_eq!(order.order_status(), "issued");
        got.extend(order.codes());
    }
    let took = stocked.elapsed();
    assert!(took < FOUND_WITHIN, "the waitlist was filled in {took:?}");
    assert_eq!(got, codes, "who waited first is served first");
    program.close(server).await;
}
