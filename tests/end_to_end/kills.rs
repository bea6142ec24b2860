//! SIGKILL at random moments under load: nothing acknowledged is lost, nothing happens twice.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use tessera_testbed::program::{Answer, Asked, Client, Program, Receipt};
use tessera_testbed::{Engine, Scenario};
use tokio::sync::watch;
use tokio::task::JoinSet;

const SERVES_AGAIN: Scenario = Scenario {
    number: 39,
    fault: "the process is killed under load",
    until: "another serves",
    bound: Duration::from_secs(10),
};

/// The variable that says how many kills a run makes.
const KILLS: &str = "TEST_KILLS";
const KILLS_OF_A_GATE: usize = 50;
const BUYERS: usize = 8;
const DELAY_MILLIS_MAX: u64 = 150;

/// Kills for which one file of codes is enough: several times what the buyers get before each.
const KILLS_OF_A_FILE: usize = 50;
const FILE: usize = 20_000;
const SEED: u64 = 0x7e55_e2a0;

/// How long a buyer whose request broke off waits for the next server before it asks again all the same: its
/// connection may have been one of the server before.
const AGAIN_AFTER: Duration = Duration::from_millis(20);

/// What one buyer did.
struct Bought {
    key: String,
    customer: String,
    quantity: i64,
    receipt: Receipt,
}

/// A buyer who repeats each request until it is answered.
struct Buyer {
    client: Client,
    number: usize,
    servers: watch::Receiver<u32>,
    over: watch::Receiver<bool>,
    rng: StdRng,
}

impl Buyer {
    async fn buy_until_over(mut self) -> Vec<Bought> {
        let mut bought = vec![];
        while !*self.over.borrow() {
            let (key, quantity) =
                (format!("buyer-{}-{:08}", self.number, bought.len()), self.rng.random_range(1..=3));
            let receipt = self.place(&key, quantity).await;
            let waits = self.rng.random_bool(0.5);
            self.pay(&receipt, waits).await;
            bought.push(Bought { key, customer: self.customer(), quantity, receipt });
        }
        bought
    }

    fn customer(&self) -> String {
        format!("customer-{}", self.number)
    }

    async fn place(&mut self, key: &str, quantity: i64) -> Receipt {
        let customer = self.customer();
        let (client, mut servers) = (self.client.clone(), self.servers.clone());
        let lines = [("card", quantity)];
        let placed = answered(&mut servers, || client.place_keyed(key, &customer, &lines)).await;
        assert!(matches!(placed.status, 200 | 201), "{}: {}", placed.status, placed.text);
        placed.receipt()
    }

    async fn pay(&mut self, receipt: &Receipt, waits: bool) {
        let (client, mut servers) = (self.client.clone(), self.servers.clone());
        let paid = match waits {
            true => answered(&mut servers, || client.pay_waiting(receipt, 5)).await,
            false => answered(&mut servers, || client.pay(receipt)).await,
        };
        assert!(matches!(paid.status, 200 | 202), "{}: {}", paid.status, paid.text);
        assert!(matches!(paid.order_status(), "paid" | "issued"), "{}", paid.text);
    }
}

/// Asks until it is answered.
async fn answered<A: Future<Output = Asked>>(
    servers: &mut watch::Receiver<u32>,
    ask: impl Fn() -> A,
) -> Answer {
    loop {
        servers.mark_unchanged();
        match ask().await {
            Ok(answer) => return answer,
            // Whether another server came or the time is over, it is asked again.
            Err(_away) => drop(tokio::time::timeout(AGAIN_AFTER, servers.changed()).await),
        }
    }
}

/// Case P23: the counter fell, and there was no order.
/// Case P88: a code was sold and its order did not show it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_at_random_moments_lose_nothing_and_repeat_nothing() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    let kills = kills();
    for number in 0..kills.div_ceil(KILLS_OF_A_FILE) {
        let codes = tessera_testbed::program::codes(&format!("file-{number}"), FILE);
        let file = program.file("codes.txt", codes.join("\n"));
        program.json(&["codes", "import", &file, "--sku", "card"]).await;
    }

    let (servers, over) = (watch::Sender::new(0), watch::Sender::new(false));
    let mut server = program.serve().await;
    let mut buyers = JoinSet::new();
    for number in 0..BUYERS {
        let rng = StdRng::seed_from_u64(SEED.wrapping_add(u64::try_from(number).unwrap()));
        let (client, servers, over) = (program.client(), servers.subscribe(), over.subscribe());
        buyers.spawn(Buyer { client, number, servers, over, rng }.buy_until_over());
    }
    let (mut rng, mut slowest) = (StdRng::seed_from_u64(SEED), Duration::ZERO);
    for _ in 0..kills {
        // The moment of the kill is what is random here; there is nothing to wait for.
        tokio::time::sleep(Duration::from_millis(rng.random_range(0..=DELAY_MILLIS_MAX))).await;
        let killed = Instant::now();
        server.kill9().await;
        server = program.serve().await;
        slowest = slowest.max(killed.elapsed());
        servers.send_modify(|count| *count += 1);
    }
    over.send_replace(true);
    let bought: Vec<Bought> = buyers.join_all().await.into_iter().flatten().collect();
    println!("{kills} kills, {} orders, the slowest start took {slowest:?}", bought.len());
    all_is_there_once(&program, &bought).await;
    if Engine::of_this_run() == Engine::Sqlite {
        assert_eq!(program.number(DAMAGES).await, 0, "the file is damaged");
    }
    program.close(server).await;
    SERVES_AGAIN.recovered(Engine::of_this_run(), slowest);
}

#[expect(clippy::disallowed_methods, reason = "how long a run may take, the caller's environment says")]
fn kills() -> usize {
    std::env::var(KILLS).map_or(KILLS_OF_A_GATE, |count| count.parse().expect("TEST_KILLS is a number"))
}

/// What SQLite finds wrong with its file.
const DAMAGES: &str = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'";

async fn all_is_there_once(program: &Program, bought: &[Bought]) {
    let client = program.client();
    let (mut orders, mut codes) = (HashSet::new(), HashSet::new());
    let mut quantities = 0;
    for Bought { key, customer, quantity, receipt } in bought {
        let order = client.get_waiting(receipt, 30).await.expect("the server is up").with_status(200);
        assert_eq!(order.order_status(), "issued", "{}", order.text);
        assert_eq!(i64::try_from(order.codes().len()), Ok(*quantity));
        codes.extend(order.codes());
        quantities += quantity;
        let again = client.place_keyed(key, customer, &[("card", *quantity)]).await;
        assert_eq!(&again.expect("the server is up").with_status(200).receipt(), receipt);
        orders.insert(receipt.id.clone());
    }
    assert!(bought.len() > BUYERS, "the buyers got nowhere: {} orders", bought.len());
    assert_eq!(orders.len(), bought.len(), "two keys, one order");
    assert_eq!(i64::try_from(codes.len()), Ok(quantities), "a code went out twice");
    let stored = program.number("SELECT count(*) FROM orders").await;
    assert_eq!(i64::try_from(bought.len()), Ok(stored), "a key made two orders");
    let settled = program.number("SELECT sum(amount) FROM money_entry WHERE state = 'settled'").await;
    assert_eq!(settled, quantities * 1_990, "an order was charged twice or not at all");
}
