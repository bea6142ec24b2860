//! SIGTERM under load: every answer under way is given, and the process ends in time.

use std::time::Duration;

use serde_json::json;
use tessera_testbed::program::{Client, Events, Program, Receipt, raise_descriptors};
use tessera_testbed::{Engine, Scenario};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Orders that somebody waits for, each by a poll and by a stream.
const WAITED_FOR: usize = 500;
const BUYERS: usize = 8;
const STOPS_WITHIN: Duration = Duration::from_secs(10);

const STOPS: Scenario = Scenario {
    number: 45,
    fault: "SIGTERM with 500 streams, 500 polls and orders under way",
    until: "the process has ended, every answer given",
    bound: STOPS_WITHIN,
};

/// What was acknowledged to a buyer.
#[derive(Default)]
struct Acknowledged {
    placed: Vec<Receipt>,
    paid: Vec<Receipt>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_answers_every_poll_ends_every_stream_and_loses_nothing() {
    raise_descriptors();
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    let product = json!({"sku": "card", "name": "A card", "kind": "codes", "price": price});
    program.products(&product).await;
    program.stock("card", 10_000).await;
    let server = program.serve().await;

    let (mut polls, mut waited_for) = (JoinSet::new(), vec![]);
    for number in 0..WAITED_FOR {
        let client = program.client();
        let placed = client.place(&format!("patient-{number}"), &[("card", 1)]).await.unwrap();
        let receipt = placed.with_status(201).receipt();
        waited_for.push(receipt.clone());
        polls.spawn(async move { client.get_waiting(&receipt, 30).await });
    }
    until_all_wait(&program).await;
    let streams = followed(&program, &waited_for, None).await;
    let done = watch::Sender::new(0_usize);
    let mut buyers = JoinSet::new();
    for number in 0..BUYERS {
        buyers.spawn(buy_while_served(program.client(), number, done.clone()));
    }
    let enough = |done: &usize| *done >= BUYERS * 4;
    done.subscribe().wait_for(enough).await.unwrap();

    let ended = server.terminate().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    STOPS.recovered(Engine::of_this_run(), ended.took);
    for mut stream in streams {
        assert_eq!(stream.next().await.expect("a stream was cut off"), None);
    }
    for answer in polls.join_all().await {
        let order = answer.expect("a poll was cut off").with_status(200);
        assert_eq!(order.order_status(), "awaiting_payment");
    }

    let server = program.serve().await;
    let client = program.client();
    drop(followed(&program, &waited_for, Some("1")).await);
    for acknowledged in buyers.join_all().await {
        for receipt in &acknowledged.placed {
            assert_eq!(client.get(receipt).await.unwrap().status, 200);
        }
        for receipt in &acknowledged.paid {
            let order = client.get_waiting(receipt, 10).await.unwrap().with_status(200);
            assert_eq!(order.order_status(), "issued");
        }
    }
    program.close(server).await;
}

/// Follows every order, after the event with this id; the first event is the order as it is.
async fn followed(program: &Program, orders: &[Receipt], after: Option<&str>) -> Vec<Events> {
    let mut streams = vec![];
    for receipt in orders {
        let mut events = program.client().events(receipt, after).await.unwrap();
        let first = events.next().await.unwrap().expect("the order as it is");
        assert_eq!((first.id.as_str(), &first.order["status"]), ("1", &json!("awaiting_payment")));
        streams.push(events);
    }
    streams
}

async fn buy_while_served(client: Client, number: usize, done: watch::Sender<usize>) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    while let Ok(placed) = client.place(&format!("buyer-{number}"), &[("card", 1)]).await {
        if placed.status == 503 {
            break;
        }
        let receipt = placed.with_status(201).receipt();
        acknowledged.placed.push(receipt.clone());
        let Ok(paid) = client.pay_waiting(&receipt, 5).await else { break };
        if paid.status == 503 {
            break;
        }
        assert!(matches!(paid.status, 200 | 202), "{}: {}", paid.status, paid.text);
        acknowledged.paid.push(receipt);
        done.send_modify(|done| *done += 1);
    }
    acknowledged
}

/// Waits until the server counts every poll.
async fn until_all_wait(program: &Program) {
    let client = program.client();
    let waiting = async {
        loop {
            let metrics = client.look("/metrics").await.expect("metrics").with_status(200).text;
            let gauge = metrics.lines().find_map(|line| line.strip_prefix("tessera_waiting_orders "));
            if gauge.and_then(|n| n.parse::<usize>().ok()).is_some_and(|n| n >= WAITED_FOR) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("all polls wait");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_never_finish_do_not_hold_up_a_stop() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let server = program.serve().await;
    let mut silent = vec![];
    let half = "POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
    for sent in ["", "GET /v1/prod", half] {
        let mut stream = TcpStream::connect(program.listen()).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        silent.push(stream);
    }
    // Whatever was sent before is in the server's hands once a later connection is answered.
    assert_eq!(program.client().look("/healthz").await.unwrap().status, 200);
    let ended = server.terminate().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.took < STOPS_WITHIN, "it took {:?}", ended.took);
    program.close_stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_events_does_not_hold_up_a_stop() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    program.stock("card", 1).await;
    let server = program.serve().await;
    let placed = program.client().place("buyer", &[("card", 1)]).await.unwrap().with_status(201);
    let Receipt { id, token } = placed.receipt();
    let mut stream = TcpStream::connect(program.listen()).await.unwrap();
    let asked =
        format!("GET /v1/orders/{id}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut told = String::new();
    while !told.contains("awaiting_payment") {
        let mut chunk = [0; 4_096];
        let count = stream.read(&mut chunk).await.unwrap();
        assert!(count > 0, "the stream ended: {told}");
        told.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    assert!(told.contains("event: order") && told.contains("id: 1"), "{told}");
    let ended = server.terminate().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.took < STOPS_WITHIN, "it took {:?}", ended.took);
    assert!(!ended.stderr.contains("cut off"), "{}", ended.stderr);
    program.close_stopped().await;
}
