//! The raffle of a phone: 6 800 shares a round, sold to a crowd round after round, each drawn and verified by anybody.

use std::collections::{BTreeSet, HashMap};
use std::process::Command;

use serde_json::{Value, json};
use tessera_testbed::Engine;
use tessera_testbed::program::{Client, Program, answered};
use tokio::task::JoinSet;

const SHARES: i64 = 6_800;
const FIRST: i64 = 10_000_001;
/// On servers fewer: a round costs there what it costs here, and more to wait for.
fn rounds() -> i64 {
    match Engine::of_this_run() {
        Engine::Sqlite => 20,
        Engine::Postgres => 4,
    }
}

const BUYERS: i64 = 16;

/// The largest order of the crowd.
const MOST: i64 = 400;

/// The verification of `docs/draw.md`, which shares no code with ours.
const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/draw_verify.py");

async fn shop() -> Program {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let raffle = json!({"shares": SHARES, "first_number": FIRST, "draw_after_seconds": 0});
    let phone = json!({"sku": "phone", "name": "A share of a phone", "kind": "raffle",
        "price": {"minor": 100, "currency": "CNY"}, "raffle": raffle});
    program.products(&phone).await;
    program
}

/// Buys so many shares; returns their numbers by round.
async fn buy(client: &Client, customer: &str, quantity: i64) -> Vec<(String, i64)> {
    let lines = [("phone", quantity)];
    let receipt = answered(|| client.place(customer, &lines)).await.with_status(201).receipt();
    let paid = answered(|| client.pay_waiting(&receipt, 30)).await.with_status(200);
    let codes = paid.body["lines"][0]["codes"].as_array().unwrap();
    let number = |code: &Value| code["code"].as_str().unwrap().parse().unwrap();
    codes.iter().map(|code| (code["round"].as_str().unwrap().to_owned(), number(code))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_of_388_shares_has_its_numbers_in_the_answer_to_its_payment() {
    let program = shop().await;
    let server = program.serve().await;
    let client = program.client();
    let numbers: BTreeSet<i64> = buy(&client, "ann", 388).await.into_iter().map(|(_, n)| n).collect();
    assert_eq!(numbers.len(), 388);
    assert!(numbers.iter().all(|n| (FIRST..FIRST + SHARES).contains(n)));
    let product = client.look("/v1/products/phone").await.unwrap().with_status(200).body;
    assert_eq!(
        (&product["available"], &product["current_round"]["sold"]),
        (&json!(SHARES - 388), &json!(388))
    );
    program.close(server).await;
}

/// Sells rounds to a crowd until `rounds` are full; returns the numbers that were given in each round.
async fn sell(program: &Program, rounds: i64) -> HashMap<String, Vec<i64>> {
    let mut crowd = JoinSet::new();
    for buyer in 0..BUYERS {
        let client = program.client();
        crowd.spawn(async move {
            let (mut given, mut bought, mut quantity) = (vec![], 0, buyer * 97 % MOST + 1);
            while bought < rounds * SHARES / BUYERS + 1 {
                given.extend(buy(&client, &format!("buyer-{buyer}"), quantity).await);
                bought += quantity;
                quantity = (quantity * 7 + 11) % MOST + 1;
            }
            given
        });
    }
    let mut numbers: HashMap<String, Vec<i64>> = HashMap::new();
    while let Some(given) = crowd.join_next().await {
        for (round, number) in given.unwrap() {
            numbers.entry(round).or_default().push(number);
        }
    }
    numbers
}

/// Case P128: "buy again" opens the old round.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn round_after_round_is_sold_to_a_crowd_and_each_draw_is_verified() {
    let program = shop().await;
    let server = program.serve().await;
    let client = program.client();
    let numbers = sell(&program, rounds()).await;
    let listed = client.look("/v1/products/phone/rounds").await.unwrap().with_status(200).body;
    let mut rounds = listed["rounds"].as_array().unwrap().clone();
    rounds.reverse();
    assert!(i64::try_from(rounds.len()).unwrap() > self::rounds());
    let all: Vec<i64> = (FIRST..FIRST + SHARES).collect();
    for (round, next) in rounds.iter().zip(&rounds[1..]) {
        assert_eq!(round["full_at"], next["opened_at"], "the next round is open in the same instant");
        let mut given = numbers[round["id"].as_str().unwrap()].clone();
        given.sort_unstable();
        assert_eq!(given, all, "the numbers of a full round are its range");
    }
    let product = client.look("/v1/products/phone").await.unwrap().body;
    assert_eq!(product["current_round"]["id"], rounds.last().unwrap()["id"]);
    assert!(product["available"].as_i64().unwrap() > 0);
    for round in &rounds[..rounds.len() - 1] {
        verified(&program, &client, round).await;
    }
    program.close(server).await;
}

async fn verified(program: &Program, client: &Client, round: &Value) {
    let path = format!("/v1/rounds/{}/proof", round["id"].as_str().unwrap());
    while client.look(&path).await.unwrap().status == 409 {
        // A draw sends no signal.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let proof = client.look(&path).await.unwrap().with_status(200).body;
    assert_eq!(proof["commitment"], round["commitment"]);
    let file = program.file("proof.json", proof.to_string());
    let ended = program.command(&["rounds", "verify", &file]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // Where there is no Python the reference is not asked: `draw::the_reference_verification_agrees` says so.
    if let Ok(said) = Command::new("python3").args([REFERENCE, &file]).output() {
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }
}
