//! What holds on every path: problems, methods, other origins, panics.

use serde_json::json;
use tessera_testbed::How;

use super::api::{Api, order};
use super::ask::{Answer, ask, get, keys, post};

/// Every path with the methods it answers.
const PATHS: &[(&str, &str)] = &[
    ("/v1/products", "GET,HEAD"),
    ("/v1/products/card", "GET,HEAD"),
    ("/v1/orders", "POST"),
    ("/v1/orders/x", "GET,HEAD"),
    ("/v1/orders/x/codes", "GET,HEAD"),
    ("/v1/orders/x/pay", "POST"),
    ("/v1/orders/x/cancel", "POST"),
    ("/v1/payments/hmac/notify", "POST"),
    ("/healthz", "GET,HEAD"),
    ("/readyz", "GET,HEAD"),
    ("/metrics", "GET,HEAD"),
    ("/openapi.json", "GET,HEAD"),
    ("/docs", "GET,HEAD"),
    ("/v1/admin/products", "GET,HEAD"),
    ("/v1/admin/products/card", "GET,HEAD,PUT"),
    ("/v1/admin/products/card/batches", "GET,HEAD,POST"),
    ("/v1/admin/batches/x/void", "POST"),
    ("/v1/admin/codes/check", "POST"),
    ("/v1/admin/orders", "GET,HEAD"),
    ("/v1/admin/orders/x", "GET,HEAD"),
    ("/v1/admin/orders/x/replace", "POST"),
    ("/v1/admin/ledger", "GET,HEAD"),
    ("/v1/admin/reconcile", "GET,HEAD"),
];

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"];

const SHOP: &str = "https://shop.example";

async fn open_to_a_page() -> Api {
    Api::with(|parts| parts.http.allowed_origins = vec![SHOP.to_owned()]).await
}

#[tokio::test]
async fn an_unknown_path_is_not_found() {
    let api = Api::open().await;
    for path in ["/v1", "/v1/", "/v1/orders/", "/v1/products/", "/v2/products", "/v1/orders/x/y", "//"] {
        for method in METHODS.into_iter().filter(|m| *m != "HEAD") {
            api.ask(ask(method, path)).await.problem(404, "not-found");
        }
    }
    api.close().await;
}

#[tokio::test]
async fn a_known_path_names_the_methods_it_takes() {
    let api = Api::open().await;
    for &(path, allowed) in PATHS {
        for method in METHODS.into_iter().filter(|m| !allowed.split(',').any(|a| a == *m)) {
            let answer = api.ask(ask(method, path)).await;
            assert_eq!(answer.status.as_u16(), 405, "{method} {path}");
            assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
            if method != "HEAD" {
                answer.problem(405, "method-not-allowed");
            }
        }
    }
    api.close().await;
}

#[tokio::test]
async fn head_is_get_without_a_body_on_every_path() {
    let api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    for &(path, _) in PATHS.iter().filter(|(_, allowed)| *allowed == "GET,HEAD") {
        let (get, head) = (api.ask(get(path)).await, api.ask(ask("HEAD", path)).await);
        assert_eq!((get.status, get.header("content-type")), (head.status, head.header("content-type")));
        assert!(head.bytes.is_empty() && !get.bytes.is_empty(), "{path}");
    }
    api.close().await;
}

#[tokio::test]
async fn a_problem_has_exactly_these_fields() {
    let api = Api::open().await;
    let plain = api.ask(get("/nowhere")).await;
    assert_eq!(keys(&plain.problem(404, "not-found")), ["detail", "status", "title", "type"]);
    assert_eq!(plain.header("cache-control"), Some("no-store"));
    let faulty = api.ask(post("/v1/orders").json(&json!({}))).await.problem(422, "invalid-request");
    assert_eq!(keys(&faulty), ["detail", "errors", "status", "title", "type"]);
    assert_eq!(keys(&faulty["errors"][0]), ["detail", "pointer"]);
    api.close().await;
}

#[tokio::test]
async fn a_path_that_cannot_be_read_is_a_problem() {
    let api = Api::open().await;
    for path in ["/v1/products/%ff", "/v1/orders/%ff", "/v1/orders/%c3%28/codes"] {
        let answer = api.ask(get(path)).await;
        answer.problem(
            answer.status.as_u16(),
            if answer.status == 404 { "not-found" } else { "invalid-request" },
        );
        assert!(answer.status.is_client_error());
    }
    api.close().await;
}

#[tokio::test]
async fn nothing_is_answered_in_a_form_a_browser_would_run() {
    let api = Api::open().await;
    let answer = api.ask(get("/v1/products/<script>alert(1)<%2Fscript>".replace(['<', '>'], "%3C"))).await;
    answer.problem(404, "not-found");
    assert!(!answer.text().contains("script"));
    api.close().await;
}

fn origin(answer: &Answer) -> Option<&str> {
    answer.header("access-control-allow-origin")
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_read_answers_and_problems() {
    let api = open_to_a_page().await;
    for path in ["/v1/products", "/v1/products/none", "/nowhere", "/v1/orders"] {
        let answer = api.ask(get(path).header("origin", SHOP)).await;
        assert_eq!(origin(&answer), Some(SHOP), "{path}");
        let exposed = answer.header("access-control-expose-headers").unwrap().to_lowercase();
        for header in ["etag", "location", "retry-after"] {
            assert!(exposed.contains(header), "{header} of {path}");
        }
    }
    api.close().await;
}

#[tokio::test]
async fn a_page_of_another_origin_may_not() {
    let api = open_to_a_page().await;
    for other in ["https://evil.example", "http://shop.example", "https://shop.example:8443", "null", "*"] {
        let answer = api.ask(get("/v1/products").header("origin", other)).await;
        assert_eq!(origin(&answer), None, "{other}");
        let asked = ask("OPTIONS", "/v1/orders").header("origin", other);
        let asked = asked.header("access-control-request-method", "POST");
        assert_eq!(origin(&api.ask(asked).await), None, "{other}");
    }
    api.close().await;
    let closed = Api::open().await;
    assert_eq!(origin(&closed.ask(get("/v1/products").header("origin", SHOP)).await), None);
    closed.close().await;
}

#[tokio::test]
async fn a_page_may_send_the_headers_a_buyer_needs() {
    let api = open_to_a_page().await;
    let asked = ask("OPTIONS", "/v1/orders").header("origin", SHOP);
    let asked = asked.header("access-control-request-method", "POST");
    let wanted = ["authorization", "content-type", "idempotency-key", "if-none-match", "prefer"];
    let answer = api.ask(asked.header("access-control-request-headers", wanted.join(","))).await;
    assert!(answer.status.is_success());
    assert_eq!(origin(&answer), Some(SHOP));
    let methods = answer.header("access-control-allow-methods").unwrap();
    assert!(methods.contains("GET") && methods.contains("POST"), "{methods}");
    let allowed = answer.header("access-control-allow-headers").unwrap().to_lowercase();
    for header in wanted {
        assert!(allowed.contains(header), "{header} is not in {allowed}");
    }
    api.close().await;
}

#[tokio::test]
async fn a_star_allows_every_origin() {
    let api = Api::with(|parts| parts.http.allowed_origins = vec![SHOP.to_owned(), "*".to_owned()]).await;
    for any in [SHOP, "https://other.example"] {
        assert_eq!(origin(&api.ask(get("/healthz").header("origin", any)).await), Some("*"));
    }
    api.close().await;
}

#[tokio::test]
async fn a_panic_is_a_problem_that_tells_nothing_and_the_next_request_works() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    for (operation, ask) in [
        ("products_catalogue", get("/v1/products")),
        ("products_of", get("/v1/products/card")),
        ("orders_read", bought.get()),
        ("spans_of", bought.codes("")),
    ] {
        api.shop.faults.next(1, operation, &"", How::Panic);
        let answer = api.ask(ask.clone()).await;
        answer.problem(500, "internal");
        assert!(!answer.text().contains("on order"), "{}", answer.text());
        api.ask(ask).await.json(200);
    }
    api.close().await;
}

#[tokio::test]
async fn a_panic_of_one_order_is_no_matter_to_those_of_its_set() {
    let (api, _) = Api::selling(9).await;
    api.shop.product("odd", |_| ()).await;
    api.shop.faults.always("products_of", &"odd", How::Panic);
    let asks = (0..9).map(|n| api.ask(order(&format!("u-{n}"), &[(if n == 4 { "odd" } else { "card" }, 1)])));
    let answers = futures_util::future::join_all(asks).await;
    for (n, answer) in answers.iter().enumerate() {
        match n {
            4 => assert!(!answer.status.is_success(), "{}", answer.text()),
            _ => drop(answer.json(201)),
        }
    }
    api.close().await;
}
