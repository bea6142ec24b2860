//! Several issuer queues.

use serde_json::json;
use tessera_testbed::program::Program;

use super::{FRONT, close, codes_of, process};

const PRODUCTS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_queues_share_the_products_and_every_process_knows_their_number() {
    let program = Program::on_servers();
    let migrated = program.command_with(("BROKER__PARTITIONS", "3"), &["--json", "migrate"]).await;
    assert_eq!(migrated.json()["partitions"], json!(3), "{}", migrated.stderr);
    let price = json!({"minor": 1_990, "currency": "CNY"});
    let sku = |number: usize| format!("card-{number}");
    for number in 0..PRODUCTS {
        let name = format!("Card {number}");
        program.products(&json!({"sku": sku(number), "name": name, "kind": "codes", "price": price})).await;
        program.stock(&sku(number), 5).await;
    }
    let front = process(&program, "front", FRONT).await;
    let issuer = process(&program, "issuer", "issuer").await;
    let client = program.client();
    let mut receipts = vec![];
    for number in 0..PRODUCTS * 5 {
        let sku = sku(number % PRODUCTS);
        let placed = client.place(&format!("buyer-{number}"), &[(&sku, 1)]).await.unwrap();
        let receipt = placed.with_status(201).receipt();
        client.pay(&receipt).await.unwrap();
        receipts.push(receipt);
    }
    assert_eq!(codes_of(&client, &receipts).await.len(), PRODUCTS * 5);
    for partition in 0..3 {
        assert_eq!(program.servers().queues.ready(partition).await, 0);
    }

    let other = program.command_with(("BROKER__PARTITIONS", "2"), &["serve", "--role", "courier"]).await;
    assert_eq!(other.code, Some(3), "{}", other.stderr);
    assert!(other.stderr.contains("tessera migrate"), "{}", other.stderr);
    close(program, vec![front, issuer]).await;
}
