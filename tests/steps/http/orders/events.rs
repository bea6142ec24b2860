//! `GET /v1/orders/{id}/events`.

use futures_util::future::join;
use serde_json::Value;

use crate::http::api::{Api, Bought, PATIENCE};
use crate::http::ask::{Ask, get};

fn events(bought: &Bought) -> Ask {
    get(format!("{}/events", bought.path)).token(&bought.token)
}

/// The events of a stream: id and order.
fn parse(text: &str) -> Vec<(String, Value)> {
    let field = |event: &str, name: &str| {
        let line = event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        line.unwrap_or_default().to_owned()
    };
    let told = text.split("\n\n").filter(|event| field(event, "event:") == "order");
    told.map(|event| (field(event, "id:"), serde_json::from_str(&field(event, "data:")).unwrap())).collect()
}

async fn one_placed() -> (Api, Bought) {
    let api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", 1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    (api, bought)
}

#[tokio::test]
async fn a_stream_tells_the_order_at_once_and_at_each_change_and_closes_when_it_is_final() {
    let (mut api, bought) = one_placed().await;
    api.start_issuer().await;
    let paying = async {
        api.until_waited_for(1).await;
        assert!(api.ask(bought.pay()).await.status.is_success());
    };
    let both = join(api.ask(events(&bought)), paying);
    let (answer, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    let told = parse(answer.text());
    let first = told.first().unwrap();
    assert_eq!((first.0.as_str(), &first.1["status"]), ("1", &Value::from("awaiting_payment")));
    let (id, last) = told.last().unwrap();
    assert_eq!((id.as_str(), &last["status"]), ("3", &Value::from("issued")));
    assert_eq!(last["lines"][0]["codes"].as_array().unwrap().len(), 1);
    assert!(told.iter().all(|(id, order)| id.parse() == Ok(order["version"].as_i64().unwrap())));
    api.close().await;
}

#[tokio::test]
async fn a_stream_of_a_final_order_is_one_event() {
    let (api, bought) = one_placed().await;
    api.ask(bought.cancel()).await.json(200);
    let told = parse(api.ask(events(&bought)).await.text());
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].1["status"], "cancelled");
    api.close().await;
}

#[tokio::test]
async fn a_stop_ends_a_stream() {
    let (api, bought) = one_placed().await;
    let stopping = async {
        api.until_waited_for(1).await;
        api.stop.cancel();
    };
    let both = join(api.ask(events(&bought)), stopping);
    let (answer, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    assert_eq!(parse(answer.text()).len(), 1);
    api.close().await;
}

#[tokio::test]
async fn a_stream_is_for_whoever_has_the_orders_token() {
    let (api, bought) = one_placed().await;
    let wrong = get(format!("{}/events", bought.path)).token("t-x.0.AAAA");
    api.ask(wrong).await.problem(404, "not-found");
    api.close().await;
}
