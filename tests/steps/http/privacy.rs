//! What is never in a log line: codes, tokens, addresses, keys of requests.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::json;
use tessera_store::StoreError;
use tessera_testbed::How;
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, fmt};

use super::api::{Api, Bought, SECRET};
use super::ask::{get, post};

/// Whether lines are kept; other tests of the process log as well.
static KEEPS: AtomicBool = AtomicBool::new(false);
static LINES: Mutex<Vec<u8>> = Mutex::new(vec![]);

struct Kept;

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LINES.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Keeps every line of every thread and level from here on.
fn keep_all_lines() {
    let layer = fmt::layer().with_ansi(false).with_writer(|| Kept);
    let layer = layer.with_filter(dynamic_filter_fn(|_, _| KEEPS.load(Ordering::SeqCst)));
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();
    KEEPS.store(true, Ordering::SeqCst);
}

fn lines() -> String {
    KEEPS.store(false, Ordering::SeqCst);
    let lines = std::mem::take(&mut *LINES.lock().unwrap_or_else(PoisonError::into_inner));
    String::from_utf8(lines).unwrap()
}

const ADDRESS: &str = "quite-private@example.com";
const CUSTOMER: &str = "customer-quite-private";
const KEY: &str = "request-key-quite-private";
const CODES: [&str; 3] = ["CODE-PRIVATE-ONE", "CODE-PRIVATE-TWO", "CODE-PRIVATE-THREE"];

/// A purchase from beginning to end, with what may go wrong on the way.
async fn buy() -> Bought {
    let (api, _) = Api::selling(0).await;
    api.shop.import("card", &CODES.join("\n")).await;
    let body = json!({ "customer": { "id": CUSTOMER, "email": ADDRESS },
        "lines": [{ "sku": "card", "quantity": 2 }] });
    let ask = || post("/v1/orders").json(&body).header("idempotency-key", KEY);
    let faults = &api.shop.faults;
    faults.next(1, "orders_insert", &"", How::Panic);
    api.ask(ask()).await;
    faults.next(1, "orders_insert", &"", How::Fail(StoreError::Data("a fault".to_owned())));
    api.ask(ask()).await;
    faults.next(1, "commit", &"", How::Fail(StoreError::Unavailable("a fault".to_owned())));
    api.ask(ask()).await.problem(503, "unavailable");
    let bought = Bought::of(&api.ask(ask()).await.json(201));
    api.ask(ask()).await.json(200);
    api.ask(get(format!("{}x", bought.path)).token(&bought.token)).await.problem(404, "not-found");
    let notice = json!({ "reference": bought.token, "memo": CODES[0], "mail": ADDRESS }).to_string();
    let forged = post("/v1/payments/hmac/notify").raw(notice).header("webhook-signature", "v1,AAAA");
    api.ask(forged).await.problem(401, "unauthorized");
    api.ask(bought.pay().wait(30)).await.json(200);
    api.ask(bought.get().wait(30)).await.json(200);
    api.ask(bought.codes("")).await.json(200);
    api.ask(bought.codes("").header("accept", "text/csv")).await;
    faults.next(1, "codes_read", &"", How::Fail(StoreError::Data("a fault".to_owned())));
    api.ask(bought.get()).await.problem(500, "internal");
    faults.away();
    api.ask(bought.get()).await.problem(503, "unavailable");
    api.ask(bought.cancel()).await.problem(503, "unavailable");
    faults.clear();
    api.ask(bought.cancel()).await.problem(409, "order-not-cancellable");
    api.close().await;
    bought
}

#[tokio::test]
async fn no_log_line_of_any_level_holds_a_secret() {
    keep_all_lines();
    let bought = buy().await;
    let lines = lines();
    for told in ["the store could not answer", "a payment notice was refused and kept"] {
        assert!(lines.contains(told), "{told} is not in the log");
    }
    assert!(lines.contains("TRACE") || lines.contains("DEBUG"), "only some levels were kept");
    let proof = bought.token.rsplit('.').next().unwrap();
    for secret in [ADDRESS, CUSTOMER, KEY, SECRET, proof].into_iter().chain(CODES) {
        let line = lines.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}
