//! Wake-ups that never reach the process whose buyers wait.

use std::time::{Duration, Instant};

use lapin::ExchangeKind;
use lapin::options::{ExchangeDeclareOptions, ExchangeDeleteOptions};
use lapin::types::FieldTable;
use tessera_testbed::program::{Client, Process, Receipt};
use tessera_testbed::proxy::Way;
use tessera_testbed::{Engine, Queues, Scenario};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::super::{FRONT, bought, codes_of, process};
use super::Wired;

/// Those who wait by a long-poll; as many wait by a stream.
const WAITING: usize = 20;

/// All orders waited for are looked at every 500 ms.
const BOUND: Duration = Duration::from_millis(1_500);

const UNBOUND: Scenario = Scenario {
    number: 51,
    fault: "wake-ups go nowhere",
    until: "who waits is answered after the issue",
    bound: BOUND,
};

const HELD: Scenario = Scenario {
    number: 51,
    fault: "wake-ups are held up on their way",
    until: "who waits is answered after the issue",
    bound: BOUND,
};

const ISSUED: &str = "SELECT count(*) FROM orders WHERE status = 'issued'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_buyers_are_answered_though_wake_ups_are_routed_nowhere() {
    let shop = Wired::selling(2 * WAITING + 1).await;
    let processes = answered(&shop, UNBOUND, async || forget_bindings(&shop.program.servers().queues).await);
    let processes = processes.await;
    shop.close(processes, 2 * WAITING + 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_buyers_are_answered_though_wake_ups_do_not_arrive() {
    let shop = Wired::selling(2 * WAITING + 1).await;
    let processes = answered(&shop, HELD, async || shop.broker.hold(Way::ToClient)).await;
    shop.broker.release();
    shop.close(processes, 2 * WAITING + 1).await;
}

/// Buyers wait without an issuer, wake-ups are lost, and an issuer comes: everybody is answered in time.
async fn answered(shop: &Wired, scenario: Scenario, lose: impl AsyncFn()) -> Vec<Process> {
    let program = &shop.program;
    let first = process(program, "first", "issuer").await;
    let front = shop.process("front", FRONT).await;
    let client = program.client();
    let woken = bought(&client, 1).await;
    codes_of(&client, &woken).await;
    assert_eq!(first.terminate().await.code, Some(0));

    let receipts = bought(&client, 2 * WAITING).await;
    let waiting = wait_for(&client, &receipts);
    while !client.look("/metrics").await.unwrap().text.contains("waiting_orders 40\n") {
        sleep(Duration::from_millis(20)).await;
    }
    lose().await;
    let issuer = process(program, "second", "issuer").await;
    while program.number(ISSUED).await < i64::try_from(receipts.len() + 1).unwrap() {
        sleep(Duration::from_millis(5)).await;
    }
    let issued = Instant::now();
    let answers = waiting.join_all().await;
    scenario.recovered(Engine::Postgres, issued.elapsed());
    assert!(answers.iter().all(|text| text.contains(r#""status":"issued""#)), "{answers:?}");
    vec![front, issuer]
}

/// Half of them by long-polls, half by streams; each gives what it was answered.
fn wait_for(client: &Client, receipts: &[Receipt]) -> JoinSet<String> {
    let mut waiting = JoinSet::new();
    for (number, receipt) in receipts.iter().cloned().enumerate() {
        let client = client.clone();
        waiting.spawn(async move {
            let answer = match number % 2 {
                0 => client.get_waiting(&receipt, 30).await,
                // It ends by itself after a final state.
                _ => client.get_part(&receipt, "/events", &[]).await,
            };
            answer.unwrap().with_status(200).text
        });
    }
    waiting
}

/// The exchange is made anew, as by an operator's hand: nobody who listened is told that it is another one.
async fn forget_bindings(queues: &Queues) {
    let (_connection, channel) = queues.connect().await.unwrap();
    let name = format!("{}.wake", queues.prefix());
    channel.exchange_delete(name.as_str().into(), ExchangeDeleteOptions::default()).await.unwrap();
    let options = ExchangeDeclareOptions { durable: true, ..Default::default() };
    let declared =
        channel.exchange_declare(name.as_str().into(), ExchangeKind::Fanout, options, FieldTable::default());
    declared.await.unwrap();
}
