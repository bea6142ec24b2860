//! Who vouches for the customer of a new order.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;
use tessera_api::{CustomerProof, JwtKey};
use tessera_store::Clock;
use tessera_store::operators::Role;

use super::super::api::{Api, order};

const SECRET: &str = "what the merchant signs its tokens with";

fn token(sub: &str, exp: i64) -> String {
    let parts = [json!({ "alg": "HS256" }), json!({ "sub": sub, "exp": exp })];
    let text = parts.map(|part| BASE64URL_NOPAD.encode(part.to_string().as_bytes())).join(".");
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    format!("{text}.{}", BASE64URL_NOPAD.encode(&mac.finalize().into_bytes()))
}

async fn selling(proof: CustomerProof) -> Api {
    let api = Api::with(|parts| parts.proof = proof).await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", 3).await;
    api
}

#[tokio::test]
async fn where_keys_vouch_the_merchants_servers_alone_place_orders() {
    let api = selling(CustomerProof::Key).await;
    let ask = || order("ann", &[("card", 1)]);
    let answer = api.ask(ask()).await;
    answer.problem(401, "unauthorized");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    api.ask(ask().token("tsk_unknown")).await.problem(401, "unauthorized");
    for role in [Role::Viewer, Role::Operator, Role::Owner] {
        api.ask(ask().token(&api.key(role).await)).await.problem(403, "forbidden");
    }
    api.ask(ask().token(&api.key(Role::Shop).await)).await.json(201);
    assert_eq!(api.shop.shelf("card").await.claimed, 1);
    api.close().await;
}

#[tokio::test]
async fn where_tokens_vouch_a_customer_orders_in_no_other_name() {
    let api = selling(CustomerProof::Jwt(JwtKey::secret(SECRET).unwrap())).await;
    let now = api.shop.clock.now().micros() / 1_000_000;
    let ann = token("Ann@shop.example", now + 60);
    api.ask(order("ann@shop.example", &[("card", 1)]).token(&ann)).await.json(201);
    api.ask(order("ben", &[("card", 1)]).token(&ann)).await.problem(403, "forbidden");
    let asked = order("ann@shop.example", &[("card", 1)]);
    for bad in [&*token("ann@shop.example", now - 60), "x.y.z", &api.key(Role::Shop).await] {
        let answer = api.ask(asked.clone().token(bad)).await;
        answer.problem(401, "unauthorized");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    api.ask(asked).await.problem(401, "unauthorized");
    assert_eq!(api.shop.shelf("card").await.claimed, 1);
    api.close().await;
}
