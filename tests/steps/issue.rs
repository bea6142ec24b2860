//! Issue: paid orders get their codes, all or none of them, once.

use tessera_issuer::{IssueOutcome, Work};
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_testbed::Shop;

mod faults;
mod short;
mod waitlists;

async fn with_stock(count: usize) -> (Shop, Vec<String>) {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    let codes = shop.stock("card", count).await;
    (shop, codes)
}

/// Orders of one unit each, paid, in the order given.
async fn paid(shop: &Shop, count: usize) -> Vec<OrderId> {
    let new = (0..count).map(|n| shop.new_order(&format!("buyer {n}"), &[("card", 1)])).collect::<Vec<_>>();
    let ids: Vec<OrderId> = new.iter().map(|n| n.id).collect();
    for set in new.chunks(256) {
        shop.place_set(set.to_vec()).await;
    }
    let notice = |id: &OrderId| shop.notice("acme", &shop.reference(), &id.to_string(), 1_000, "CNY");
    for set in ids.chunks(256) {
        shop.pay_set(set.iter().map(notice).collect()).await;
    }
    ids
}

async fn sets(shop: &Shop) -> i64 {
    shop.number("SELECT sets FROM store").await
}

#[tokio::test]
async fn a_set_of_256_orders_gets_256_codes_in_the_order_they_came() {
    let (shop, codes) = with_stock(300).await;
    let orders = paid(&shop, 256).await;
    assert_eq!(shop.issue(&orders).await, [IssueOutcome::Issued; 256]);
    assert_eq!(sets(&shop).await, 1);
    for (order, code) in orders.iter().zip(&codes) {
        assert_eq!(shop.codes_of(*order).await, std::slice::from_ref(code));
    }
    assert_eq!(shop.shelf("card").await.available(), 44);
    shop.close().await;
}

#[tokio::test]
async fn an_order_for_388_costs_one_span() {
    let (shop, codes) = with_stock(400).await;
    let order = shop.place("ann", &[("card", 388)]).await;
    shop.pay(order).await;
    shop.issue(&[order]).await;
    assert_eq!(shop.codes_of(order).await, codes[..388]);
    assert_eq!(shop.number("SELECT count(*) FROM span WHERE kind = 'issue'").await, 1);
    shop.close().await;
}

#[tokio::test]
async fn redelivered_a_hundred_times_an_order_gets_no_second_code() {
    let (shop, codes) = with_stock(200).await;
    let order = paid(&shop, 1).await[0];
    let outcomes = shop.issue(&[order; 100]).await;
    assert_eq!(outcomes, [IssueOutcome::Issued; 100]);
    for _ in 0..100 {
        assert_eq!(shop.issue(&[order]).await, [IssueOutcome::NothingToDo(OrderStatus::Issued)]);
    }
    assert_eq!(shop.codes_of(order).await, codes[..1]);
    assert_eq!(sets(&shop).await, 1);
    shop.close().await;
}

#[tokio::test]
async fn orders_issued_in_sets_at_once_get_distinct_codes() {
    let (shop, codes) = with_stock(100).await;
    let orders = paid(&shop, 100).await;
    futures_util::future::join_all(
        orders.iter().chain(&orders).map(|id| shop.issue(std::slice::from_ref(id))),
    )
    .await;
    let mut given = vec![];
    for order in orders {
        given.extend(shop.codes_of(order).await);
    }
    given.sort();
    assert_eq!(given, codes);
    shop.close().await;
}

#[tokio::test]
async fn an_unpaid_cancelled_or_unknown_order_gets_nothing() {
    let (shop, _) = with_stock(9).await;
    let unpaid = shop.place("ann", &[("card", 1)]).await;
    let cancelled = shop.place("bob", &[("card", 1)]).await;
    shop.cancel(cancelled).await;
    let unknown = OrderId::parse("00000000-0000-7000-8000-000000000000").unwrap();
    let outcomes = shop.issue(&[unpaid, cancelled, unknown]).await;
    assert_eq!(outcomes[0], IssueOutcome::NothingToDo(OrderStatus::AwaitingPayment));
    assert_eq!(outcomes[1], IssueOutcome::NothingToDo(OrderStatus::Cancelled));
    assert_eq!(outcomes[2], IssueOutcome::Unknown);
    assert_eq!((sets(&shop).await, shop.shelf("card").await.unissued), (0, 9));
    shop.close().await;
}

#[tokio::test]
async fn an_order_runs_on_from_one_batch_into_the_next() {
    let (shop, first) = with_stock(3).await;
    shop.clock.advance(std::time::Duration::from_secs(1));
    let second = shop.stock("card", 5).await;
    let order = shop.place("ann", &[("card", 6)]).await;
    shop.pay(order).await;
    shop.issue(&[order]).await;
    assert_eq!(shop.codes_of(order).await, [first, second[..3].to_vec()].concat());
    assert_eq!(shop.number("SELECT count(*) FROM batch WHERE state = 'closed'").await, 1);
    shop.close().await;
}

#[tokio::test]
async fn an_order_of_several_products_gets_all_its_lines_or_none() {
    let (shop, codes) = with_stock(3).await;
    shop.product("late", |rules| rules.backorders = true).await;
    let order = shop.place("ann", &[("card", 1), ("late", 2)]).await;
    shop.pay(order).await;
    for _ in 0..20 {
        assert_eq!(shop.issue(&[order]).await, [IssueOutcome::Backordered]);
    }
    assert_eq!(shop.codes_of(order).await, [""; 0]);
    assert_eq!(shop.shelf("card").await.unissued, 3);
    let late = shop.stock("late", 2).await;
    assert_eq!(shop.issue(&[order]).await, [IssueOutcome::Issued]);
    assert_eq!(shop.codes_of(order).await, [codes[..1].to_vec(), late].concat());
    shop.close().await;
}

#[tokio::test]
async fn codes_for_one_line_are_not_given_in_part() {
    let shop = Shop::open().await;
    let card = shop.product("card", |rules| rules.backorders = true).await;
    shop.stock("card", 3).await;
    let order = shop.place("ann", &[("card", 5)]).await;
    shop.pay(order).await;
    assert_eq!(shop.issue(&[order]).await, [IssueOutcome::Backordered]);
    assert_eq!((shop.codes_of(order).await.len(), shop.shelf("card").await.unissued), (0, 3));
    shop.stock("card", 2).await;
    shop.issue_set(vec![Work::Stock(card)]).await;
    assert_eq!(shop.codes_of(order).await.len(), 5);
    shop.close().await;
}

#[tokio::test]
async fn a_claim_keeps_its_codes_for_its_order_whatever_else_is_paid_first() {
    let (shop, _) = with_stock(2).await;
    let slow = shop.place("ann", &[("card", 1)]).await;
    let quick = shop.place("bob", &[("card", 1)]).await;
    shop.pay(quick).await;
    shop.issue(&[quick]).await;
    shop.pay(slow).await;
    assert_eq!(shop.issue(&[slow]).await, [IssueOutcome::Issued]);
    shop.close().await;
}
