//! Backorders: a strict waitlist per product, by when they were paid.

use std::time::Duration;

use futures_util::future::join_all;
use tessera_issuer::{IssueOutcome, Work};
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::order::OrderStatus;
use tessera_testbed::Shop;

async fn before_it_arrives() -> (Shop, ProductId) {
    let shop = Shop::open().await;
    let card = shop.product("card", |rules| rules.backorders = true).await;
    (shop, card)
}

/// An order that is paid and backordered, a moment after all others.
async fn waiting(shop: &Shop, lines: &[(&str, i64)]) -> OrderId {
    let order = shop.place("ann", lines).await;
    shop.clock.advance(Duration::from_millis(1));
    shop.pay(order).await;
    assert_eq!(shop.issue(&[order]).await, [IssueOutcome::Backordered]);
    order
}

/// Orders of one unit that wait, by the hundred.
async fn many_waiting(shop: &Shop, sku: &str, count: usize) -> Vec<OrderId> {
    let new: Vec<_> = (0..count).map(|n| shop.new_order(&format!("{sku} {n}"), &[(sku, 1)])).collect();
    let ids: Vec<OrderId> = new.iter().map(|n| n.id).collect();
    for set in new.chunks(100) {
        shop.place_set(set.to_vec()).await;
    }
    let notice = |id: &OrderId| shop.notice("acme", &shop.reference(), &id.to_string(), 1_000, "CNY");
    for set in ids.chunks(100) {
        shop.pay_set(set.iter().map(notice).collect()).await;
        shop.issue(set).await;
        shop.clock.advance(Duration::from_millis(1));
    }
    ids
}

#[tokio::test]
async fn those_who_paid_first_are_served_first() {
    let (shop, card) = before_it_arrives().await;
    let placed = [shop.place("a", &[("card", 1)]).await, shop.place("b", &[("card", 1)]).await];
    for order in [placed[1], placed[0]] {
        shop.clock.advance(Duration::from_millis(1));
        shop.pay(order).await;
    }
    shop.issue(&placed).await;
    let codes = shop.stock("card", 2).await;
    shop.issue_set(vec![Work::Stock(card)]).await;
    assert_eq!(shop.codes_of(placed[1]).await, codes[..1]);
    assert_eq!(shop.codes_of(placed[0]).await, codes[1..]);
    shop.close().await;
}

#[tokio::test]
async fn nobody_overtakes_a_head_that_wants_more_than_there_is() {
    let (shop, card) = before_it_arrives().await;
    let head = waiting(&shop, &[("card", 5)]).await;
    let next = waiting(&shop, &[("card", 1)]).await;
    let first = shop.stock("card", 3).await;
    shop.issue_set(vec![Work::Stock(card)]).await;
    assert_eq!(shop.issue(&[next]).await, [IssueOutcome::Backordered]);
    assert_eq!(shop.issue(&[next, head]).await, [IssueOutcome::Backordered; 2]);
    let second = shop.stock("card", 2).await;
    shop.issue_set(vec![Work::Stock(card)]).await;
    assert_eq!(shop.codes_of(head).await, [first, second].concat());
    assert_eq!(shop.status(next).await, OrderStatus::Backordered);
    shop.close().await;
}

#[tokio::test]
async fn a_later_order_of_a_short_product_joins_its_waitlist() {
    let (shop, _) = before_it_arrives().await;
    waiting(&shop, &[("card", 5)]).await;
    shop.stock("card", 3).await;
    let later = waiting(&shop, &[("card", 1)]).await;
    assert_eq!(shop.codes_of(later).await, [""; 0]);
    shop.close().await;
}

#[tokio::test]
async fn a_paid_order_of_the_set_does_not_overtake_those_it_finds_waiting() {
    let (shop, card) = before_it_arrives().await;
    let head = waiting(&shop, &[("card", 1)]).await;
    let codes = shop.stock("card", 1).await;
    let late = shop.place("bob", &[("card", 1)]).await;
    shop.clock.advance(Duration::from_millis(1));
    shop.pay(late).await;
    shop.issue_set(vec![Work::Order(late), Work::Stock(card)]).await;
    assert_eq!(shop.codes_of(head).await, codes);
    assert_eq!(shop.status(late).await, OrderStatus::Backordered);
    shop.close().await;
}

#[tokio::test]
async fn stock_left_over_by_an_order_that_waits_for_another_product_is_sold() {
    let (shop, _) = before_it_arrives().await;
    shop.product("gift", |_| ()).await;
    shop.stock("gift", 2).await;
    let both = waiting(&shop, &[("card", 1), ("gift", 1)]).await;
    let other = shop.place("bob", &[("gift", 1)]).await;
    shop.pay(other).await;
    assert_eq!(shop.issue(&[other]).await, [IssueOutcome::Issued]);
    shop.stock("card", 1).await;
    assert_eq!(shop.issue(&[both]).await, [IssueOutcome::Issued]);
    shop.close().await;
}

#[tokio::test]
async fn an_order_that_waits_for_two_products_is_served_when_both_are_there() {
    let (shop, card) = before_it_arrives().await;
    let gift = shop.product("gift", |rules| rules.backorders = true).await;
    let both = waiting(&shop, &[("card", 1), ("gift", 1)]).await;
    let behind = waiting(&shop, &[("card", 1)]).await;
    shop.stock("card", 2).await;
    shop.issue_set(vec![Work::Stock(card)]).await;
    assert_eq!(shop.statuses(&[both, behind]).await, [OrderStatus::Backordered; 2]);
    shop.stock("gift", 1).await;
    let issuer = shop.start_issuer().await;
    shop.publish_stock(gift).await;
    shop.until(&[both, behind], OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn twenty_who_wait_are_filled_once_by_two_fills_at_once() {
    let (shop, card) = before_it_arrives().await;
    let orders = many_waiting(&shop, "card", 20).await;
    let codes = shop.stock("card", 25).await;
    join_all((0..2).map(|_| shop.issue_set(vec![Work::Stock(card)]))).await;
    let mut given = vec![];
    for order in &orders {
        given.extend(shop.codes_of(*order).await);
    }
    given.sort();
    assert_eq!(given, codes[..20]);
    assert_eq!(shop.shelf("card").await.available(), 5);
    shop.close().await;
}

#[tokio::test]
async fn six_hundred_who_wait_are_filled_by_one_message_of_new_stock() {
    let (shop, card) = before_it_arrives().await;
    let orders = many_waiting(&shop, "card", 600).await;
    shop.purge().await;
    shop.stock("card", 600).await;
    let issuer = shop.start_issuer().await;
    shop.publish_stock(card).await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn the_waitlists_of_two_products_are_filled_by_their_messages_in_one_set() {
    let (shop, card) = before_it_arrives().await;
    let gift = shop.product("gift", |rules| rules.backorders = true).await;
    let mut orders = many_waiting(&shop, "card", 200).await;
    orders.extend(many_waiting(&shop, "gift", 200).await);
    shop.stock("card", 200).await;
    shop.stock("gift", 200).await;
    shop.purge().await;
    shop.publish_stock(card).await;
    shop.publish_stock(gift).await;
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn one_message_of_the_head_fills_all_who_stand_behind_it() {
    let (shop, card) = before_it_arrives().await;
    let orders = many_waiting(&shop, "card", 300).await;
    shop.stock("card", 299).await;
    shop.purge().await;
    shop.publish_paid(shop.head(card).await).await;
    let issuer = shop.start_issuer().await;
    let filled = async || {
        let statuses = shop.statuses(&orders).await;
        statuses.iter().filter(|s| **s == OrderStatus::Issued).count()
    };
    shop.until_true(async || filled().await == 299).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn a_long_waitlist_that_cannot_be_filled_keeps_no_other_from_being_filled_with_it() {
    let (shop, card) = before_it_arrives().await;
    let gift = shop.product("gift", |rules| rules.backorders = true).await;
    let head = waiting(&shop, &[("card", 500)]).await;
    let stuck = many_waiting(&shop, "card", 300).await;
    let orders = many_waiting(&shop, "gift", 20).await;
    shop.stock("card", 100).await;
    shop.stock("gift", 20).await;
    shop.purge().await;
    shop.publish_stock(card).await;
    shop.publish_stock(gift).await;
    let issuer = shop.start_issuer().await;
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!(shop.status(head).await, OrderStatus::Backordered);
    assert_eq!(shop.statuses(&stuck).await, [OrderStatus::Backordered; 300]);
    shop.close().await;
}
