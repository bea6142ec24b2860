//! What a machine or an operator may do to a process: thousands of waiting clients, too few descriptors, no stock,
//! and to its file.

use std::time::Duration;

use serde_json::{Value, json};
use tessera_testbed::program::{Answer, PATIENCE, Program};

mod descriptors;
mod embedded;
mod stock;
mod waiters;
mod wake_ups;

/// How long a test pauses before it looks again at what sends no signal.
const AGAIN: Duration = Duration::from_millis(20);

/// A program whose product `card` costs so much and may be changed further; none of it is in stock.
async fn offering(program: Program, minor: i64, change: &Value) -> Program {
    program.json(&["migrate"]).await;
    let mut product = json!({"sku": "card", "name": "A card", "kind": "codes"});
    product["price"] = json!({"minor": minor, "currency": "CNY"});
    let changes = change.as_object().into_iter().flatten();
    changes.for_each(|(name, value)| product[name] = value.clone());
    program.products(&product).await;
    program
}

/// Waits until a query gives this number.
async fn until_number(program: &Program, query: &str, wanted: i64) {
    let reached = async {
        while program.number(query).await != wanted {
            tokio::time::sleep(AGAIN).await;
        }
    };
    let reached = tokio::time::timeout(PATIENCE, reached).await;
    assert!(reached.is_ok(), "never {wanted}: {query}");
}

/// The answer has to be one that says when to come again.
pub(crate) fn told_to_come_again(answer: &Answer) {
    assert_eq!((answer.status, answer.problem()), (503, "unavailable"), "{}", answer.text);
    let after = answer.headers.get("retry-after").and_then(|after| after.to_str().ok()?.parse::<u64>().ok());
    assert!(after.is_some_and(|seconds| (1..=60).contains(&seconds)), "{after:?}");
}
