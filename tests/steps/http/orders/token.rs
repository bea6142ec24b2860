//! Tokens: one order's proof, on every path below it. Whatever is wrong looks the same.

use serde_json::json;

use crate::http::api::{Api, Bought};
use crate::http::ask::{Ask, ask, get};

/// The requests about an order, none with a token yet.
fn requests(path: &str) -> [Ask; 5] {
    [
        get(path),
        get(path).header("if-none-match", "W/\"1\"").wait(30),
        get(format!("{path}/codes")),
        ask("POST", format!("{path}/pay")).json(&json!({ "provider": "test" })),
        ask("POST", format!("{path}/cancel")),
    ]
}

/// Every way to ask for `path` without the right to; `other` is an order of somebody else.
fn strangers(path: &str, bought: &Bought, other: &Bought) -> Vec<Ask> {
    let token = bought.token.as_str();
    let (cut, raised) = (&token[..token.len() - 1], token.replacen(".0.", ".1.", 1));
    let proof = token.rsplit('.').next().unwrap();
    let bearers = [
        format!("Bearer {}", other.token),
        format!("Bearer {cut}"),
        format!("Bearer {token}A"),
        format!("Bearer {raised}"),
        format!("Bearer {proof}"),
        format!("Bearer unknown.0.{proof}"),
        format!("Bearer {}", "x".repeat(10_000)),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Basic {token}"),
        token.to_owned(),
    ];
    let with = |bearer: &String| requests(path).map(|ask| ask.header("authorization", bearer));
    requests(path).into_iter().chain(bearers.iter().flat_map(with)).collect()
}

/// Case P112: from a list of addresses to orders to codes, without a login. Its time: see
/// `who_has_no_right_to_an_order_learns_nothing_from_the_time_either`.
#[tokio::test]
async fn a_wrong_token_and_an_unknown_order_are_the_same_404() {
    let (api, _) = Api::selling(3).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let other = api.place("bob", &[("card", 1)]).await;
    let expected = api.ask(get("/v1/orders/no-order")).await;
    expected.problem(404, "not-found");
    for ask in strangers(&bought.path, &bought, &other) {
        let answer = api.ask(ask.clone()).await;
        assert_eq!(answer.bytes, expected.bytes, "{ask:?}");
        assert_eq!((answer.status, &answer.headers), (expected.status, &expected.headers), "{ask:?}");
    }
    let unknown = "/v1/orders/0193747c-0000-7000-8000-000000000000";
    let upper = bought.path.to_uppercase().replacen("/V1/ORDERS", "/v1/orders", 1);
    let odd = ["%00", "..%2F..", "%F0%9F%98%80", "1", "null", "-1", upper.as_str()];
    let odd = odd.iter().map(|id| id.rsplit('/').next().unwrap()).map(|id| format!("/v1/orders/{id}x"));
    for path in odd.chain([unknown.to_owned()]) {
        for ask in requests(&path).map(|ask| ask.token(&bought.token)) {
            let answer = api.ask(ask).await;
            assert_eq!(answer.bytes, expected.bytes, "{path}");
            assert_eq!((answer.status, &answer.headers), (expected.status, &expected.headers), "{path}");
        }
    }
    assert_eq!(api.show(&bought).await["status"], "awaiting_payment");
    api.close().await;
}

#[tokio::test]
async fn a_revoked_token_is_as_good_as_none() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    let expected = api.ask(get("/v1/orders/no-order")).await;
    api.shop.operate("UPDATE orders SET epoch = 1").await;
    for ask in requests(&bought.path).map(|ask| ask.token(&bought.token)) {
        assert_eq!(api.ask(ask).await.bytes, expected.bytes);
    }
    api.shop.operate("UPDATE orders SET epoch = 0").await;
    assert_eq!(api.show(&bought).await["status"], "awaiting_payment");
    api.close().await;
}

#[tokio::test]
async fn the_scheme_of_a_token_is_read_whatever_its_case() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    for scheme in ["bearer", "BEARER", "Bearer "] {
        let ask = get(&bought.path).header("authorization", format!("{scheme} {}", bought.token));
        api.ask(ask).await.json(200);
    }
    api.close().await;
}

#[tokio::test]
async fn a_token_in_the_path_or_query_is_not_taken() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    for query in ["token", "access_token", "authorization"] {
        let ask = get(format!("{}?{query}={}", bought.path, bought.token));
        api.ask(ask).await.problem(404, "not-found");
    }
    api.close().await;
}

/// Case P113: ids in sequence were tried one after another. Here an id alone is worth nothing; the rate of requests is
/// not limited.
#[tokio::test]
async fn neighbouring_ids_are_nobodys() {
    let (api, _) = Api::selling(1).await;
    let bought = api.buy("ann", &[("card", 1)]).await;
    let id = bought.order_id().uuid().as_u128();
    for step in 1..=5_000 {
        for neighbour in [id.wrapping_add(step), id.wrapping_sub(step)] {
            let hex = format!("{neighbour:032x}");
            let path = format!(
                "/v1/orders/{}-{}-{}-{}-{}",
                &hex[..8],
                &hex[8..12],
                &hex[12..16],
                &hex[16..20],
                &hex[20..]
            );
            let answer = api.ask(get(path).token(&bought.token)).await;
            assert_eq!(answer.status.as_u16(), 404);
        }
    }
    api.close().await;
}

/// Case P113, of the token.
#[tokio::test]
async fn a_token_with_one_character_altered_is_nobodys() {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    let (api, _) = Api::selling(1).await;
    let bought = api.buy("ann", &[("card", 1)]).await;
    let token: Vec<char> = bought.token.chars().collect();
    for at in 0..token.len() {
        for other in ALPHABET.chars().filter(|other| *other != token[at]) {
            let mut altered = token.clone();
            altered[at] = other;
            let altered = altered.into_iter().collect::<String>();
            let answer = api.ask(get(&bought.path).token(&altered)).await;
            assert_eq!(answer.status.as_u16(), 404, "{altered} for {}", bought.token);
        }
    }
    api.close().await;
}

/// Case P110: an address alone listed its orders and their codes.
#[tokio::test]
async fn orders_cannot_be_listed_by_customer_or_address() {
    let (api, codes) = Api::selling(2).await;
    let body = json!({ "customer": { "id": "ann", "email": "ann@example.com" },
        "lines": [{ "sku": "card", "quantity": 1 }] });
    let bought = Bought::of(&api.ask(ask("POST", "/v1/orders").json(&body)).await.json(201));
    api.ask(bought.pay().wait(30)).await.json(200);
    for query in ["", "?customer=ann", "?email=ann@example.com", "?customer_id=ann&status=issued"] {
        api.ask(get(format!("/v1/orders{query}"))).await.problem(405, "method-not-allowed");
    }
    for name in ["ann", "ann@example.com", "ann%40example.com"] {
        for path in [format!("/v1/orders/{name}"), format!("/v1/orders/{name}/codes")] {
            for token in ["ann", "ann@example.com"] {
                api.ask(get(&path).token(token)).await.problem(404, "not-found");
            }
        }
        let path = format!("{}?email={name}&customer={name}", bought.path);
        api.ask(get(path)).await.problem(404, "not-found");
    }
    // The same customer's next order shows nothing of the one before.
    let again = api.ask(ask("POST", "/v1/orders").json(&body)).await;
    assert!(!again.text().contains(&codes[0]) && !again.text().contains(bought.id()));
    api.close().await;
}
