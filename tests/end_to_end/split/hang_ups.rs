//! Clients that hang up at any moment.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use tessera_testbed::{Engine, Scenario};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{FRONT, bought, close, codes_of, process, selling};

const SERVED: Scenario = Scenario {
    number: 37,
    fault: "10 000 clients hang up in the middle of an order",
    until: "50 orders are issued",
    bound: Duration::from_secs(10),
};

const CLIENTS: usize = 10_000;
const AT_ONCE: usize = 100;
const SEED: u64 = 0x7e55_e2a1;

/// The longest a client stays: what an order takes.
const STAYS_MICROS_MAX: u64 = 20_000;

const IDLE: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE datname = current_database() AND state LIKE 'idle in transaction%'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_clients_that_hang_up_leave_no_transaction_and_no_permit_behind() {
    let program = selling(20_000).await.with("DATABASE__CONNECTIONS", "2");
    let front = process(&program, "front", FRONT).await;
    let issuer = process(&program, "issuer", "issuer").await;
    let mut clients = JoinSet::new();
    for number in 0..AT_ONCE {
        let listen = program.listen();
        clients.spawn(async move {
            let mut rng = StdRng::seed_from_u64(SEED.wrapping_add(u64::try_from(number).unwrap()));
            for turn in 0..CLIENTS / AT_ONCE {
                let stays = Duration::from_micros(rng.random_range(0..=STAYS_MICROS_MAX));
                let mut stream = TcpStream::connect(listen).await.unwrap();
                stream.write_all(&order(number * 1_000 + turn)).await.unwrap();
                // The moment is what is random here.
                tokio::time::sleep(stays).await;
            }
        });
    }
    clients.join_all().await;

    let gone = Instant::now();
    let client = program.client();
    let receipts = bought(&client, 50).await;
    codes_of(&client, &receipts).await;
    SERVED.recovered(Engine::Postgres, gone.elapsed());
    assert_eq!(program.number(IDLE).await, 0);
    assert_eq!(client.look("/readyz").await.unwrap().status, 200);
    close(program, vec![front, issuer]).await;
}

/// An order as bytes on the wire.
fn order(buyer: usize) -> Vec<u8> {
    let body =
        json!({"customer": {"id": format!("hasty-{buyer}")}, "lines": [{"sku": "card", "quantity": 1}]});
    let body = body.to_string();
    let head = "POST /v1/orders HTTP/1.1\r\nhost: shop\r\ncontent-type: application/json\r\n";
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
