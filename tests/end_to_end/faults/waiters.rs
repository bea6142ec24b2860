//! Two thousand streams and two thousand long-polls on one process.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_testbed::program::{Asked, Client, Events, Program, Receipt, raise_descriptors};
use tessera_testbed::{Engine, Scenario};
use tokio::task::{JoinHandle, JoinSet};

use super::{AGAIN, offering, until_number};

/// Orders, each with a stream and a long-poll.
const ORDERS: usize = 2_000;

/// Descriptors of this test and of a server beside its clients.
const OTHERS: usize = 200;

/// What a server may take for one waiter: a connection with its buffers, a task, a place.
const MEMORY_OF_A_WAITER_KIB: u64 = 64;

/// The sweeper finds stock that another process brought within 5 s; the rest is 4 000 answers.
const ALL_HEAR: Scenario = Scenario {
    number: 45,
    fault: "2 000 streams and 2 000 long-polls wait for stock that another process brings",
    until: "all have their codes",
    bound: Duration::from_secs(25),
};

const ALL_END: Scenario = Scenario {
    number: 45,
    fault: "SIGTERM with 2 000 streams and 2 000 long-polls",
    until: "the process has ended, each poll answered",
    bound: Duration::from_secs(10),
};

const BACKORDERED: &str = "SELECT count(*) FROM orders WHERE status = 'backordered'";

/// A stream and the last id it told.
struct Followed {
    events: Events,
    id: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_streams_and_polls_end_with_the_process_and_hear_their_codes_from_the_next() {
    let orders = as_many_as_allowed();
    if orders < ORDERS {
        println!("the system allows too few descriptors: {orders} orders in place of {ORDERS}");
    }
    let program = offering(Program::default(), 0, &json!({"backorders": true})).await;
    let server = program.serve().await;
    let receipts = placed(&program.client(), orders).await;
    until_number(&program, BACKORDERED, i64::try_from(orders).unwrap()).await;

    let (descriptors, memory) = (server.descriptors(), server.memory_kib_now());
    let (streams, polls) = waiting(&program, &receipts, &[]).await;
    let taken = u64::try_from(server.descriptors().saturating_sub(descriptors)).unwrap();
    let waiters = u64::try_from(2 * orders).unwrap();
    let each = server.memory_kib_now().saturating_sub(memory) / waiters;
    println!("{waiters} waiters: {taken} descriptors, {each} KiB each");
    assert!(taken <= waiters + 64, "{taken} descriptors for {waiters} waiters");
    assert!(each <= MEMORY_OF_A_WAITER_KIB, "{each} KiB for one waiter");

    let ended = server.terminate().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("cut off"), "{}", ended.stderr);
    for poll in polls {
        let order = poll.await.unwrap().expect("a poll was cut off").with_status(200);
        assert_eq!(order.order_status(), "backordered");
    }
    let mut last = vec![];
    for mut stream in streams {
        assert_eq!(stream.events.next().await.expect("a stream was cut off"), None);
        last.push(stream.id);
    }
    ALL_END.recovered(Engine::of_this_run(), ended.took);

    let server = program.serve().await;
    let (streams, polls) = waiting(&program, &receipts, &last).await;
    program.stock("card", orders).await;
    let brought = Instant::now();
    for poll in polls {
        let order = poll.await.unwrap().expect("the server is up").with_status(200);
        assert_eq!((order.order_status(), order.codes().len()), ("issued", 1), "{}", order.text);
    }
    for stream in streams {
        issued_at_last(stream).await;
    }
    ALL_HEAR.recovered(Engine::of_this_run(), brought.elapsed());
    program.close(server).await;
}

/// Fewer where the system lets neither side have so many descriptors.
fn as_many_as_allowed() -> usize {
    let allowed = usize::try_from(raise_descriptors()).unwrap_or(usize::MAX);
    ORDERS.min(allowed.saturating_sub(OTHERS) / 2)
}

async fn placed(client: &Client, count: usize) -> Vec<Receipt> {
    let (mut placing, mut receipts) = (JoinSet::new(), vec![]);
    for buyer in 0..count {
        if placing.len() >= 100 {
            receipts.extend(placing.join_next().await.map(Result::unwrap));
        }
        let client = client.clone();
        placing.spawn(async move {
            let placed = client.place(&format!("buyer-{buyer}"), &[("card", 1)]).await.unwrap();
            placed.with_status(201).receipt()
        });
    }
    receipts.extend(placing.join_all().await);
    receipts
}

type Polls = Vec<JoinHandle<Asked>>;

/// A poll and a stream of each order; streams go on after the ids they had. Returns once the server has all.
async fn waiting(program: &Program, receipts: &[Receipt], after: &[String]) -> (Vec<Followed>, Polls) {
    let polls = receipts.iter().cloned().map(|receipt| {
        let client = program.client();
        tokio::spawn(async move { client.get_waiting(&receipt, 30).await })
    });
    let polls = polls.collect();
    until_waited_for(program, receipts.len()).await;
    let mut opening = vec![];
    for (number, receipt) in receipts.iter().enumerate() {
        let (client, receipt) = (program.client(), receipt.clone());
        let after = after.get(number).cloned();
        opening.push(tokio::spawn(async move {
            let mut events = client.events(&receipt, after.as_deref()).await.unwrap();
            let first = events.next().await.unwrap().expect("the order as it is comes at once");
            assert_eq!(first.order["status"], "backordered");
            assert!(after.is_none_or(|after| after == first.id), "a version was passed over");
            Followed { events, id: first.id }
        }));
    }
    let mut streams = vec![];
    for opened in opening {
        streams.push(opened.await.unwrap());
    }
    (streams, polls)
}

/// Waits until the server counts so many orders that somebody waits for.
async fn until_waited_for(program: &Program, orders: usize) {
    let client = program.client();
    let waited_for = async || {
        let metrics = client.look("/metrics").await.unwrap().with_status(200).text;
        let gauge = metrics.lines().find_map(|line| line.strip_prefix("tessera_waiting_orders "));
        gauge.and_then(|count| count.parse::<usize>().ok()).unwrap_or_default()
    };
    while waited_for().await < orders {
        tokio::time::sleep(AGAIN).await;
    }
}

/// A stream tells nothing after the codes.
async fn issued_at_last(mut stream: Followed) {
    let event = stream.events.next().await.unwrap().expect("the stream ended before the codes");
    assert_eq!(event.order["status"], "issued");
    assert!(event.id.parse::<i64>().unwrap() > stream.id.parse().unwrap());
    assert_eq!(stream.events.next().await.unwrap(), None);
}
