//! Which role may do what, on every route of the operators.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use tessera_backoffice::api_keys;
use tessera_store::Clock;
use tessera_store::operators::Role;

use super::super::api::Api;
use super::super::ask::{Ask, ask, get};
use super::super::openapi::routed;

/// Every route with the least role that it takes.
const ROUTES: &[(&str, &str, Role)] = &[
    ("get", "/v1/admin/products", Role::Viewer),
    ("get", "/v1/admin/products/{sku}", Role::Viewer),
    ("put", "/v1/admin/products/{sku}", Role::Operator),
    ("get", "/v1/admin/products/{sku}/batches", Role::Viewer),
    ("post", "/v1/admin/products/{sku}/batches", Role::Operator),
    ("post", "/v1/admin/batches/{id}/void", Role::Operator),
    ("post", "/v1/admin/codes/check", Role::Viewer),
    ("get", "/v1/admin/orders", Role::Viewer),
    ("get", "/v1/admin/orders/{id}", Role::Viewer),
    ("post", "/v1/admin/orders/{id}/replace", Role::Operator),
    ("get", "/v1/admin/ledger", Role::Viewer),
    ("post", "/v1/admin/orders/{id}/refund", Role::Operator),
    ("post", "/v1/admin/orders/{id}/accept", Role::Operator),
    ("post", "/v1/admin/orders/{id}/cancel", Role::Operator),
    ("get", "/v1/admin/payments", Role::Viewer),
    ("post", "/v1/admin/payments/{id}/refunded", Role::Operator),
    ("get", "/v1/admin/notices", Role::Viewer),
    ("get", "/v1/admin/reconcile", Role::Viewer),
];

/// An id that nothing has.
const NOTHING: &str = "01a22cc3-604b-726c-85a6-a678e1db2110";

/// A request of a route, about something that is not there.
fn asked(method: &'static str, path: &str) -> Ask {
    let method = match method {
        "get" => "GET",
        "put" => "PUT",
        "delete" => "DELETE",
        _ => "POST",
    };
    let path = path.replace("{sku}", "none").replace("{id}", NOTHING);
    let request = ask(method, path);
    if method == "GET" { request } else { request.json(&json!({})) }
}

/// Said once more, in other words than the program's.
fn may(role: Role, least: Role) -> bool {
    let ladder = [Role::Viewer, Role::Operator, Role::Owner];
    let rung = |role: Role| ladder.iter().position(|r| *r == role);
    rung(role).is_some_and(|rung_of| Some(rung_of) >= rung(least))
}

#[test]
fn the_table_has_every_route_of_operators() {
    let table = ROUTES.iter().map(|(method, path, _)| ((*path).to_owned(), (*method).to_owned()));
    let routes = routed().filter(|(path, _)| path.starts_with("/v1/admin/"));
    assert_eq!(table.collect::<BTreeSet<_>>(), routes.collect::<BTreeSet<_>>());
}

#[tokio::test]
async fn each_route_takes_its_role_and_those_above_it() {
    let api = Api::open().await;
    let mut keys = vec![];
    for role in Role::ALL {
        keys.push((role, api.key(role).await));
    }
    for (method, path, least) in ROUTES {
        for (role, key) in &keys {
            let answer = api.ask(asked(method, path).token(key)).await;
            match may(*role, *least) {
                true => assert!(!matches!(answer.status.as_u16(), 401 | 403), "{method} {path} as {role:?}"),
                false => drop(answer.problem(403, "forbidden")),
            }
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{method} {path}");
        }
    }
    api.close().await;
}

#[tokio::test]
async fn without_a_good_key_no_route_answers() {
    let api = Api::open().await;
    let (store, entropy) = (&api.shop.store, &api.shop.entropy);
    let end = api.shop.clock.now().plus(Duration::from_mins(1));
    let made = |end| api_keys::create(store, entropy, Role::Owner, String::new(), end, "test".to_owned());
    let (ended, revoked) = (made(Some(end)).await.unwrap(), made(None).await.unwrap());
    for good in [&ended, &revoked] {
        api.ask(get("/v1/admin/products").token(&good.text)).await.json(200);
    }
    api.shop.clock.advance(Duration::from_mins(1));
    assert!(api_keys::revoke(store, revoked.key.id, "test".to_owned()).await.unwrap());
    for (method, path, _) in ROUTES {
        let asks = [
            asked(method, path),
            asked(method, path).header("authorization", ""),
            asked(method, path).header("authorization", format!("Basic {}", revoked.text)),
            asked(method, path).token("tsk_AAAA"),
            asked(method, path).token(&ended.text),
            asked(method, path).token(&revoked.text),
        ];
        for ask in asks {
            let answer = api.ask(ask).await;
            answer.problem(401, "unauthorized");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{method} {path}");
        }
    }
    api.close().await;
}
