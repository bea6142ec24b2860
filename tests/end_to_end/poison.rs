//! One poisonous request among many good ones: it alone is refused.

use std::sync::Arc;

use hyper::Method;
use serde_json::json;
use tessera_testbed::program::{Answer, Client, Program};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

const TOGETHER: usize = 256;

/// A request that has to be refused, and how.
struct Poison {
    what: &'static str,
    content_type: &'static str,
    body: Vec<u8>,
    status: u16,
    problem: &'static str,
    pointers: Vec<&'static str>,
}

impl Poison {
    fn of(what: &'static str, body: impl Into<Vec<u8>>, status: u16, pointers: &[&'static str]) -> Self {
        let pointers = pointers.to_vec();
        let content_type = "application/json";
        Self { what, content_type, body: body.into(), status, problem: "invalid-request", pointers }
    }
}

/// An order's JSON, of which any part may be odd.
fn order(customer: &str, quantity: &str) -> String {
    format!(
        "{{\"customer\": {{\"id\": {customer}}}, \"lines\": [{{\"sku\": \"card\", \"quantity\": {quantity}}}]}}"
    )
}

/// A text of so many letters, quoted.
fn long(letters: usize) -> String {
    format!("\"{}\"", "u".repeat(letters))
}

fn poisons() -> Vec<Poison> {
    let good = order("\"u\"", "1");
    let merged = json!({"customer": {"id": "u"},
        "lines": [{"sku": "card", "quantity": 60_000}, {"sku": "card", "quantity": 60_000}]});
    let unknown = good.replacen('{', "{\"coupon\": 1, ", 1);
    let nested = format!("{{\"customer\": {}1{}}}", "[".repeat(20_000), "]".repeat(20_000));
    let large = order(&long(70_000), "1");
    let quantity = &["/lines/0/quantity"];
    let mut text = Poison::of("text", good.clone(), 415, &[]);
    (text.content_type, text.problem) = ("text/plain", "unsupported-media-type");
    let mut large = Poison::of("a large body", large, 413, &[]);
    large.problem = "too-large";
    vec![
        Poison::of("NUL in an id", order("\"a\\u0000b\"", "1"), 422, &["/customer/id"]),
        Poison::of("a long id", order(&long(129), "1"), 422, &["/customer/id"]),
        Poison::of("a quantity too many", order("\"u\"", "100001"), 422, quantity),
        Poison::of("the largest integer", order("\"u\"", "9223372036854775807"), 422, quantity),
        Poison::of("past the largest integer", order("\"u\"", "18446744073709551615"), 422, quantity),
        Poison::of("a number past every float", order("\"u\"", "1e999"), 400, &[]),
        Poison::of("a number of many digits", order("\"u\"", "1e30"), 422, quantity),
        Poison::of("lines too many together", merged.to_string(), 422, &["/lines/1/quantity"]),
        Poison::of("a lone surrogate", order("\"\\ud800\"", "1"), 400, &[]),
        Poison::of(
            "bytes that are no UTF-8",
            [b"{\"customer\":\"".as_slice(), &[0xff], b"\"}"].concat(),
            400,
            &[],
        ),
        Poison::of("deep nesting", nested, 400, &[]),
        Poison::of("an unknown field", unknown, 422, &["/coupon"]),
        Poison::of("an array", format!("[{good}]"), 422, &[""]),
        Poison::of("nothing", "", 400, &[]),
        text,
        large,
    ]
}

async fn send(client: &Client, poison: &Poison) -> Answer {
    let headers = [("content-type", poison.content_type)];
    client.send(Method::POST, "/v1/orders", &headers, poison.body.clone()).await.expect("an answer")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_poisonous_request_among_many_is_refused_alone() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    let poisons = poisons();
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    program.stock("card", poisons.len() * (TOGETHER - 1)).await;
    let server = program.serve().await;
    let client = program.client();
    for (round, poison) in poisons.iter().enumerate() {
        let together = Arc::new(Barrier::new(TOGETHER));
        let mut good = JoinSet::new();
        for buyer in 1..TOGETHER {
            let (client, together) = (client.clone(), Arc::clone(&together));
            good.spawn(async move {
                together.wait().await;
                client.place(&format!("buyer-{round}-{buyer}"), &[("card", 1)]).await
            });
        }
        together.wait().await;
        let refused = send(&client, poison).await;
        assert_eq!(refused.status, poison.status, "{}: {}", poison.what, refused.text);
        assert_eq!(refused.problem(), poison.problem, "{}", poison.what);
        assert_eq!(refused.pointers(), poison.pointers, "{}: {}", poison.what, refused.text);
        for placed in good.join_all().await {
            let placed = placed.unwrap();
            assert_eq!(placed.status, 201, "beside {}: {}", poison.what, placed.text);
        }
    }
    program.close(server).await;
}
