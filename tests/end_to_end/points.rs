//! A server that is killed, frozen or made to fail at every fault point in turn, and its buyers who ask again.
//!
//! Each test is about one step. It arms the step's points one after the other, kills, freezes and fails there, and does the
//! step as a client would who repeats its request under the same key until it is answered. After each: one order for each
//! key, every code once, and the books balanced.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tessera_api::WebhookSecret;
use tessera_faults::{At, POINTS};
use tessera_testbed::program::{Answer, Client, Process, Program, Receipt, answered};
use tessera_testbed::{Engine, Scenario};

mod steps;

/// What is done at a point.
const HOWS: [&str; 3] = ["kill", "freeze", "fail"];

/// How long a server stands still: longer than PostgreSQL lets a transaction rest (2 s). A file has no such bound.
fn stands_still() -> Duration {
    match Engine::of_this_run() {
        Engine::Sqlite => Duration::from_millis(300),
        Engine::Postgres => Duration::from_millis(2_300),
    }
}

/// How long an order may need once its server is back: the sweeper's 3 s and what a standby takes.
const SETTLED_WITHIN: Duration = Duration::from_secs(10);

/// In every order of these tests.
const QUANTITY: i64 = 2;

const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// A shop that goes through one step's points.
struct Shop {
    program: Program,
    orders: i64,
    codes: HashSet<String>,
    /// From the return of a server to the state that the order had to come to.
    slowest: Duration,
}

/// One point and what is done there, for the shop to go through.
struct Turn {
    fault: String,
    freezes: bool,
}

impl Shop {
    /// `card` and, with a hold of one second, `brief`.
    async fn open() -> Self {
        let program = Program::default().with("PAYMENTS__HMAC__SECRET", SECRET);
        program.json(&["migrate"]).await;
        let price = json!({"minor": 1_990, "currency": "CNY"});
        let product = |sku: &str, hold: u32| json!({"sku": sku, "name": sku, "kind": "codes", "price": price, "hold_seconds": hold});
        program.products(&json!([product("card", 900), product("brief", 1)])).await;
        program.stock("card", 200).await;
        program.stock("brief", 200).await;
        Self { program, orders: 0, codes: HashSet::new(), slowest: Duration::ZERO }
    }

    fn client(&self) -> Client {
        self.program.client()
    }

    /// Serves with one point armed.
    async fn armed(&self, turn: &Turn) -> Process {
        let server =
            self.program.start_line(self.program.line_faulty(&[("TEST_FAULT", &turn.fault)], &["serve"]));
        server.until_line("ready").await;
        server
    }

    /// Waits until the point is reached, and brings back the server that was killed or frozen there.
    async fn bring_back(&self, server: Process, turn: &Turn) -> Process {
        server.until_said_often("fault point", 1).await;
        if turn.fault.ends_with("=kill") {
            assert_eq!(server.ended().await.code, None, "it ended by the signal");
            return self.program.serve().await;
        }
        if turn.freezes {
            server.until_frozen().await;
            // That time passes is the fault itself.
            tokio::time::sleep(stands_still()).await;
            server.thaw();
        }
        server
    }

    /// What the buyer was left with, and that everything balances; ends the server.
    async fn proven(&mut self, server: Process, receipts: &[Receipt], status: &str) {
        let (client, back) = (self.client(), Instant::now());
        for receipt in receipts {
            let order = match status {
                // That it will be issued is waited for; that it is not yet paid is so at once.
                "awaiting_payment" => answered(|| client.get(receipt)).await,
                _ => answered(|| client.get_waiting(receipt, 30)).await,
            };
            assert_eq!(order.order_status(), status, "{}", order.text);
            let (codes, wanted) = (order.codes(), if status == "issued" { QUANTITY } else { 0 });
            assert_eq!(i64::try_from(codes.len()), Ok(wanted), "{}", order.text);
            assert!(codes.into_iter().all(|code| self.codes.insert(code)), "a code went out twice");
        }
        self.slowest = self.slowest.max(back.elapsed());
        self.orders += i64::try_from(receipts.len()).unwrap();
        assert_eq!(self.program.number("SELECT count(*) FROM orders").await, self.orders, "one order a key");
        self.program.json(&["reconcile"]).await;
        assert_eq!(server.terminate().await.code, Some(0));
    }

    /// Places an order as often as it takes; the key makes it one.
    async fn placed(&self, turn: &Turn, sku: &str) -> Receipt {
        let (client, lines) = (self.client(), [(sku, QUANTITY)]);
        let customer = format!("buyer-{}", self.orders);
        let place = || client.place_keyed(&turn.fault, &customer, &lines);
        let placed = answered(place).await;
        assert!(matches!(placed.status, 200 | 201), "{}", placed.text);
        let again = answered(place).await.with_status(200);
        assert_eq!(again.receipt(), placed.receipt());
        placed.receipt()
    }

    /// Waits until an order's hold has ended and it is expired.
    async fn expired(&self, receipt: &Receipt) {
        let client = self.client();
        let order = answered(|| client.get_waiting(receipt, 10)).await.with_status(200);
        assert_eq!(order.order_status(), "expired", "{}", order.text);
    }

    /// A provider's notice that the whole price was paid, sent until it is answered.
    async fn notified(&self, receipt: &Receipt) -> Answer {
        let (client, secret) = (self.client(), WebhookSecret::parse(SECRET).unwrap());
        let notice = json!({"type": "payment.settled", "reference": receipt.id, "order_id": receipt.id,
            "amount": {"minor": 1_990 * QUANTITY, "currency": "CNY"}, "paid_at": "2026-01-01T00:00:00Z"});
        answered(|| client.notify(&secret, &notice)).await.with_status(200)
    }

    async fn settled(&self) -> i64 {
        self.program.number("SELECT coalesce(sum(amount), 0) FROM money_entry WHERE state = 'settled'").await
    }

    async fn unissued(&self, sku: &str) -> Value {
        let stock = self.program.json(&["codes", "stock", "--sku", sku]).await;
        stock["stock"][0]["unissued"].clone()
    }

    /// Ends; says how long it took at most after a point of this kind, by the number of its scenario.
    async fn close(self, number: u16, fault: &'static str) {
        let scenario =
            Scenario { number, fault, until: "the order is as its buyer was told", bound: SETTLED_WITHIN };
        scenario.recovered(Engine::of_this_run(), self.slowest);
        self.program.close_stopped().await;
    }
}

/// Everything that can happen at a step's points on this engine.
fn turns(step: &str) -> Vec<Turn> {
    let embedded = Engine::of_this_run() == Engine::Sqlite;
    // A broker in the process takes a message and confirms it in one.
    let points = POINTS.iter().filter(|(who, at)| *who == step && !(embedded && *at == At::AfterPublish));
    let turn = |(who, at): &(&str, At), how: &str| Turn {
        fault: format!("{who}/{at:?}={how}"),
        freezes: how == "freeze",
    };
    let turns: Vec<_> = points.flat_map(|point| HOWS.map(|how| turn(point, how))).collect();
    assert!(!turns.is_empty(), "no point of {step}");
    turns
}
