//! `POST /v1/orders`, refused by a rule of the shop.

use std::time::Duration;

use serde_json::{Value, json};
use tessera_model::money::{Currency, Money, PRICE_MINOR_MAX};
use tessera_model::product::ProductRules;
use tessera_store::Clock;

use crate::http::api::{Api, order};

/// One code of `card` on sale, with a rule.
async fn with(rule: impl FnOnce(&mut ProductRules)) -> Api {
    let api = Api::open().await;
    api.shop.product("card", rule).await;
    api.shop.stock("card", 9).await;
    api
}

/// The problem of an order that is refused, and nothing of which is kept.
async fn refused(api: &Api, customer: &str, quantity: i64, status: u16, slug: &str) -> Value {
    let before = api.shop.number("SELECT count(*) FROM orders").await;
    let problem = api.ask(order(customer, &[("card", quantity)])).await.problem(status, slug);
    assert_eq!(api.shop.number("SELECT count(*) FROM orders").await, before);
    problem
}

#[tokio::test]
async fn an_unknown_or_inactive_sku_is_not_found() {
    let api = with(|rules| rules.active = false).await;
    refused(&api, "ann", 1, 404, "not-found").await;
    api.ask(order("ann", &[("none", 1)])).await.problem(404, "not-found");
    api.close().await;
}

#[tokio::test]
async fn a_sale_is_open_from_its_start_until_just_before_its_end() {
    let api = Api::open().await;
    let (start, second) = (api.shop.clock.now().plus(Duration::from_secs(10)), Duration::from_secs(1));
    let end = start.plus(Duration::from_secs(5));
    api.shop
        .product("card", |rules| (rules.sale_starts_at, rules.sale_ends_at) = (Some(start), Some(end)))
        .await;
    api.shop.stock("card", 2).await;
    api.shop.clock.set(start.minus(second));
    refused(&api, "ann", 1, 409, "sale-not-open").await;
    api.shop.clock.set(start);
    api.place("ann", &[("card", 1)]).await;
    api.shop.clock.set(end.minus(second));
    api.place("ann", &[("card", 1)]).await;
    api.shop.clock.set(end);
    refused(&api, "ann", 1, 409, "sale-closed").await;
    api.close().await;
}

#[tokio::test]
async fn a_reached_limit_names_itself() {
    let api = with(|rules| rules.max_per_order = Some(2)).await;
    assert_eq!(refused(&api, "ann", 3, 409, "limit-reached").await["limit"], "max_per_order");
    api.close().await;

    let api = with(|rules| rules.per_customer_limit = Some(2)).await;
    api.place("ann@x.com", &[("card", 1)]).await;
    assert_eq!(refused(&api, "ANN@x.com ", 2, 409, "limit-reached").await["limit"], "per_customer");
    api.place("bob", &[("card", 2)]).await;
    api.close().await;

    let api = with(|rules| rules.open_orders_per_customer = Some(1)).await;
    let first = api.place("ann", &[("card", 1)]).await;
    assert_eq!(refused(&api, "ann", 1, 409, "limit-reached").await["limit"], "open_orders");
    api.place("bob", &[("card", 1)]).await;
    api.ask(first.cancel()).await.json(200);
    api.place("ann", &[("card", 1)]).await;
    api.close().await;
}

#[tokio::test]
async fn only_a_reached_limit_has_a_limit() {
    let api = with(|_| ()).await;
    let problem = refused(&api, "ann", 10, 409, "sold-out").await;
    assert_eq!(crate::http::ask::keys(&problem), ["detail", "status", "title", "type"]);
    api.close().await;
}

#[tokio::test]
async fn a_product_for_new_customers_is_refused_to_one_who_has_an_order() {
    let api = with(|rules| rules.new_customers_only = true).await;
    let first = api.place("ann", &[("card", 1)]).await;
    refused(&api, "Ann", 1, 409, "not-a-new-customer").await;
    api.ask(first.cancel()).await.json(200);
    let second = api.place("ann", &[("card", 1)]).await;
    api.shop.pay(second.order_id()).await;
    refused(&api, "ann", 1, 409, "not-a-new-customer").await;
    api.shop.leftover_is_fine();
    api.close().await;
}

#[tokio::test]
async fn a_refusal_names_the_first_reason_that_holds() {
    let api = Api::open().await;
    let now = api.shop.clock.now();
    let hour = Duration::from_hours(1);
    let all = |rules: &mut ProductRules| {
        rules.sale_starts_at = Some(now.plus(hour));
        rules.sale_ends_at = Some(now.plus(2 * hour));
        rules.max_per_order = Some(1);
        rules.new_customers_only = true;
        rules.per_customer_limit = Some(1);
    };
    api.shop.product("open", |_| ()).await;
    api.shop.stock("open", 1).await;
    api.place("ann", &[("open", 1)]).await;
    api.shop.product("card", all).await;
    refused(&api, "ann", 2, 409, "sale-not-open").await;
    api.shop.clock.advance(hour);
    assert_eq!(refused(&api, "ann", 2, 409, "limit-reached").await["limit"], "max_per_order");
    refused(&api, "ann", 1, 409, "not-a-new-customer").await;
    refused(&api, "bob", 1, 409, "sold-out").await;
    api.shop.clock.advance(hour);
    refused(&api, "ann", 2, 409, "sale-closed").await;
    api.close().await;
}

#[tokio::test]
async fn the_first_reason_is_that_of_all_lines_together() {
    let api = Api::open().await;
    let now = api.shop.clock.now();
    let hour = Duration::from_hours(1);
    api.shop.product("empty", |_| ()).await;
    api.shop.product("few", |rules| rules.max_per_order = Some(1)).await;
    api.shop.product("over", |rules| rules.sale_ends_at = Some(now)).await;
    api.shop.product("soon", |rules| rules.sale_starts_at = Some(now.plus(hour))).await;
    for (lines, slug) in [
        (&["empty", "few", "over", "soon", "none"][..], "not-found"),
        (&["empty", "few", "over", "soon"], "sale-not-open"),
        (&["empty", "few", "over"], "sale-closed"),
        (&["empty", "few"], "limit-reached"),
        (&["empty"], "sold-out"),
    ] {
        let lines: Vec<(&str, i64)> = lines.iter().map(|sku| (*sku, 2)).collect();
        let status = if slug == "not-found" { 404 } else { 409 };
        api.ask(order("ann", &lines)).await.problem(status, slug);
    }
    api.close().await;
}

#[tokio::test]
async fn several_currencies_are_a_fault_of_the_lines() {
    let api = with(|_| ()).await;
    api.shop.product("euro", |rules| rules.price = Money::new(1, Currency::parse("EUR").unwrap())).await;
    let mixed = api.ask(order("ann", &[("card", 1), ("euro", 1)])).await;
    assert_eq!(mixed.pointers(), ["/lines"]);
    api.close().await;
}

#[tokio::test]
async fn the_dearest_order_of_all_is_no_overflow() {
    let api = with(|rules| {
        rules.price = Money::new(PRICE_MINOR_MAX, rules.price.currency);
        rules.backorders = true;
    })
    .await;
    let bought = api.place("ann", &[("card", 100_000)]).await;
    assert_eq!(bought.order["amount"]["minor"], PRICE_MINOR_MAX * 100_000);
    api.close().await;
}

#[tokio::test]
async fn backorders_are_accepted_beyond_the_stock() {
    let api = with(|rules| rules.backorders = true).await;
    assert_eq!(api.place("ann", &[("card", 12)]).await.order["lines"][0]["quantity"], json!(12));
    api.close().await;
}
