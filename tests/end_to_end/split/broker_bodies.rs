//! Messages that no shop wrote, in the queue of paid orders.

use std::time::{Duration, Instant};

use lapin::BasicProperties;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::types::{AMQPValue, FieldTable};
use serde_json::{Value, json};
use tessera_testbed::program::{PATIENCE, Program};
use tessera_testbed::{Engine, Queues, Scenario};
use tokio::time::sleep;

use super::{FRONT, bought, close, codes_of, process, selling};

/// What the largest header leaves free of a frame of 128 KiB, which is as much as RabbitMQ takes.
const FRAME_REST: usize = 2_048;
const HEADER: usize = 131_072 - FRAME_REST;

/// The largest body that RabbitMQ 4 takes unless it is told otherwise.
const BODY_MAX: usize = 16 * 1024 * 1024;

/// Orders that nobody placed: the letters of one order are one.
const STRANGERS: [&str; 2] = ["00000000-0000-7000-8000-000000000000", "00000000-0000-7000-8000-000000000001"];

const MALFORMED: Scenario = Scenario {
    number: 24,
    fault: "messages that cannot be decoded",
    until: "each is a dead letter and orders go on",
    bound: Duration::from_secs(10),
};

const NEWER: Scenario = Scenario {
    number: 24,
    fault: "a message of a newer version, then taken away",
    until: "what waited behind it is issued",
    bound: Duration::from_secs(12),
};

/// A message, and what its letter says.
struct Strange {
    what: &'static str,
    kind: Option<&'static str>,
    /// Whether it goes by `what` as its message id.
    named: bool,
    header: usize,
    body: Vec<u8>,
    reason: &'static str,
}

impl Strange {
    fn of(what: &'static str, body: impl Into<Vec<u8>>, reason: &'static str) -> Self {
        Self { what, kind: Some("order.paid"), named: true, header: 0, body: body.into(), reason }
    }

    fn properties(&self) -> BasicProperties {
        let mut properties = BasicProperties::default().with_delivery_mode(2);
        if let Some(kind) = self.kind {
            properties = properties.with_type(kind.into());
        }
        if self.named {
            properties = properties.with_message_id(self.what.into());
        }
        let mut headers = FieldTable::default();
        headers.insert("x-large".into(), AMQPValue::LongString("h".repeat(self.header).into()));
        properties.with_headers(headers)
    }
}

fn strange() -> Vec<Strange> {
    let [unknown, other] = STRANGERS.map(|id| format!(r#"{{"v":1,"order_id":"{id}"}}"#));
    let untyped = Strange { kind: None, ..Strange::of("no type", unknown.clone(), "has no type") };
    let unnamed = Strange { named: false, ..Strange::of("no message id", "[]", "no integer `v`") };
    let of_other_kind = Strange {
        kind: Some("order.shipped"),
        ..Strange::of("an unknown type", unknown.clone(), "neither order.paid nor stock.added")
    };
    let headed = Strange {
        header: HEADER,
        ..Strange::of("a header as large as a frame", other, "there is no such order")
    };
    vec![
        Strange::of("bad JSON", r#"{"v":1,"#, "not JSON"),
        Strange::of(
            "bad UTF-8",
            [b"{\"v\":1,\"order_id\":\"".as_slice(), &[0xff], b"\"}"].concat(),
            "not JSON",
        ),
        Strange::of("nothing", "", "not JSON"),
        Strange::of("no version", r#"{"order_id":"x"}"#, "no integer `v`"),
        Strange::of("an id that is none", r#"{"v":1,"order_id":"x"}"#, "`order_id` is no id"),
        Strange::of("an unknown order", unknown, "there is no such order"),
        Strange::of("a body of 16 MiB", vec![b'x'; BODY_MAX], "not JSON"),
        untyped,
        unnamed,
        of_other_kind,
        headed,
    ]
}

/// Publishes to the first partition, and waits for the broker to take it.
async fn publish(queues: &Queues, what: &Strange) {
    let (_connection, channel) = queues.connect().await.unwrap();
    channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
    let (to, options) =
        (format!("{}.events", queues.prefix()), BasicPublishOptions { mandatory: true, immediate: false });
    let sent =
        channel.basic_publish(to.into(), "order.paid.0".into(), options, &what.body, what.properties());
    let taken = sent.await.unwrap().await.unwrap();
    assert!(taken.is_ack() && taken.take_message().is_none(), "{} was not taken", what.what);
}

async fn letters(program: &Program) -> Vec<Value> {
    let listed = program.json(&["dlq", "list"]).await;
    listed["dead_letters"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_malformed_message_is_a_dead_letter_with_its_reason_and_orders_go_on() {
    let program = selling(20).await;
    let issuer = process(&program, "issuer", "issuer").await;
    let front = process(&program, "front", FRONT).await;
    let client = program.client();
    let (strange, begun) = (strange(), Instant::now());
    for what in &strange {
        publish(&program.servers().queues, what).await;
    }
    let receipts = bought(&client, 10).await;
    codes_of(&client, &receipts).await;
    let mut found = letters(&program).await;
    while found.len() < strange.len() && begun.elapsed() < PATIENCE {
        sleep(Duration::from_millis(50)).await;
        found = letters(&program).await;
    }
    assert_eq!(found.len(), strange.len(), "{found:?}");
    MALFORMED.recovered(Engine::Postgres, begun.elapsed());
    for what in &strange {
        let id = if what.named { json!(what.what) } else { Value::Null };
        let letter = found.iter().find(|letter| letter["message_id"] == id);
        let letter = letter.unwrap_or_else(|| panic!("{} has no letter", what.what));
        assert!(letter["reason"].as_str().unwrap().contains(what.reason), "{}: {letter}", what.what);
        let (state, kind) = (letter["state"].as_str(), letter["event"].as_str());
        assert_eq!((state, kind), (Some("open"), what.kind), "{}: {letter}", what.what);
    }
    let again = bought(&client, 10).await;
    codes_of(&client, &again).await;
    assert_eq!((letters(&program).await.len(), issuer.said("is paused")), (strange.len(), 0));
    close(program, vec![front, issuer]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_of_a_newer_version_pauses_the_issuer_and_nothing_is_lost_once_it_is_gone() {
    let program = selling(10).await;
    let issuer = process(&program, "issuer", "issuer").await;
    let front = process(&program, "front", FRONT).await;
    let client = program.client();
    let newer = Strange::of("a newer version", r#"{"v":2,"order_id":"x"}"#, "");
    publish(&program.servers().queues, &newer).await;
    issuer.until_said_often("the message has version 2, newer than 1", 1).await;
    let receipts = bought(&client, 10).await;
    // It looks again, and goes on waiting.
    issuer.until_said_often("the message has version 2, newer than 1", 4).await;
    assert!(letters(&program).await.is_empty());
    for receipt in &receipts {
        assert_eq!(client.get(receipt).await.unwrap().order_status(), "paid");
    }
    // While the issuer holds it, it cannot be taken away.
    while program.servers().queues.purge(0).await == 0 {}
    let gone = Instant::now();
    codes_of(&client, &receipts).await;
    NEWER.recovered(Engine::Postgres, gone.elapsed());
    close(program, vec![front, issuer]).await;
}
