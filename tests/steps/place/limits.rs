//! The limits of customers, and the rule for new ones.

use futures_util::future::join_all;
use tessera_model::ids::OrderId;
use tessera_model::place::{Limit, Refusal};
use tessera_orders::place::PlaceOutcome;
use tessera_testbed::Shop;

use super::{is_placed, sku, sold_out};

fn limit(text: &str, limit: Limit, allowed: i64) -> PlaceOutcome {
    PlaceOutcome::Refused(Refusal::LimitReached { sku: sku(text), limit, allowed })
}

fn not_new(text: &str) -> PlaceOutcome {
    PlaceOutcome::Refused(Refusal::NotANewCustomer(sku(text)))
}

async fn limited_to(allowed: i64) -> Shop {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.per_customer_limit = Some(allowed)).await;
    shop.product("other", |rules| rules.per_customer_limit = Some(allowed)).await;
    shop.stock("card", 99).await;
    shop.stock("other", 99).await;
    shop
}

/// Case P25: two unpaid orders of one customer, both paid, passed the limit.
#[tokio::test]
async fn one_customer_written_in_many_ways_has_one_limit_in_one_set() {
    let shop = limited_to(1).await;
    let names = ["A@x.com", "a@x.com ", "ａ@X.com", "a@x.com"];
    let set = names.iter().map(|name| shop.new_order(name, &[("card", 1)])).collect();
    let outcomes: Vec<_> = shop.place_set(set).await.into_iter().map(Result::unwrap).collect();
    assert!(is_placed(&outcomes[0]));
    assert!(outcomes[1..].iter().all(|o| *o == limit("card", Limit::PerCustomer, 1)), "{outcomes:?}");
    shop.close().await;
}

/// Case P29: the counter stopped, and orders were let through.
#[tokio::test]
async fn fifty_orders_of_one_customer_in_sets_at_once_keep_the_limit() {
    let shop = limited_to(3).await;
    let sets = (0..50).map(|_| shop.place_set(vec![shop.new_order("ann", &[("card", 1)])]));
    let outcomes: Vec<_> = join_all(sets).await.into_iter().flatten().map(Result::unwrap).collect();
    assert_eq!(outcomes.iter().filter(|o| is_placed(o)).count(), 3);
    shop.close().await;
}

#[tokio::test]
async fn a_limit_counts_paid_and_issued_orders_too() {
    let shop = limited_to(2).await;
    let issued = shop.place("ann", &[("card", 1)]).await;
    shop.pay(issued).await;
    shop.issue(&[issued]).await;
    let paid = shop.place("ANN", &[("card", 1)]).await;
    shop.pay(paid).await;
    let third = shop.try_place(shop.new_order("ann ", &[("card", 1)])).await;
    assert_eq!(third, limit("card", Limit::PerCustomer, 2));
    shop.leftover_is_fine();
    shop.close().await;
}

/// Case P26: the limit of one product kept customers from another.
#[tokio::test]
async fn the_limit_of_one_product_is_not_that_of_another() {
    let shop = limited_to(1).await;
    shop.place("ann", &[("card", 1)]).await;
    shop.place("ann", &[("other", 1)]).await;
    shop.place("bob", &[("card", 1)]).await;
    shop.close().await;
}

#[tokio::test]
async fn what_is_cancelled_no_longer_counts() {
    let shop = limited_to(1).await;
    let order = shop.place("ann", &[("card", 1)]).await;
    shop.cancel(order).await;
    shop.place("ann", &[("card", 1)]).await;
    shop.close().await;
}

/// Case P31: unpaid orders of one customer locked the shop.
#[tokio::test]
async fn a_customer_with_500_wishes_holds_few_units_and_others_can_buy() {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.open_orders_per_customer = Some(2)).await;
    shop.stock("card", 10).await;
    let wishes: Vec<_> = (0..500).map(|_| shop.new_order("bot", &[("card", 1)])).collect();
    let outcomes = join_all(wishes.into_iter().map(|new| shop.try_place(new))).await;
    assert_eq!(outcomes.iter().filter(|o| is_placed(o)).count(), 2);
    assert!(outcomes[2..].iter().all(|o| *o == limit("card", Limit::OpenOrders, 2)));
    shop.place("ann", &[("card", 8)]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_paid_order_is_no_longer_open() {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.open_orders_per_customer = Some(1)).await;
    shop.stock("card", 10).await;
    let first = shop.place("ann", &[("card", 1)]).await;
    let refused = shop.try_place(shop.new_order("ann", &[("card", 1)])).await;
    assert_eq!(refused, limit("card", Limit::OpenOrders, 1));
    shop.pay(first).await;
    shop.place("ann", &[("card", 1)]).await;
    shop.issue(&[first]).await;
    shop.close().await;
}

#[tokio::test]
async fn an_order_holds_at_most_what_one_order_may() {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.max_per_order = Some(3)).await;
    shop.stock("card", 10).await;
    let merged = shop.try_place(shop.new_order("ann", &[("card", 2), ("card", 2)])).await;
    assert_eq!(merged, limit("card", Limit::MaxPerOrder, 3));
    shop.place("ann", &[("card", 3)]).await;
    shop.place("ann", &[("card", 3)]).await;
    shop.close().await;
}

async fn for_new_customers() -> Shop {
    let shop = Shop::open().await;
    shop.product("gift", |rules| (rules.new_customers_only, rules.price.minor) = (true, 0)).await;
    shop.product("card", |_| ()).await;
    shop.stock("gift", 99).await;
    shop.stock("card", 99).await;
    shop
}

async fn free(shop: &Shop, customer: &str) -> PlaceOutcome {
    shop.try_place(shop.new_order(customer, &[("gift", 1)])).await
}

fn id(outcome: &PlaceOutcome) -> OrderId {
    match outcome {
        PlaceOutcome::Placed(placed) => placed.order.id,
        other => panic!("not placed: {other:?}"),
    }
}

/// Case P28: a coupon for one use was used without bound.
#[tokio::test]
async fn a_giveaway_for_new_customers_is_taken_once_however_often_at_once() {
    let shop = for_new_customers().await;
    let set = (0..50).map(|_| shop.new_order("ann", &[("gift", 1)])).collect();
    let outcomes: Vec<_> = shop.place_set(set).await.into_iter().map(Result::unwrap).collect();
    assert!(is_placed(&outcomes[0]));
    assert!(outcomes[1..].iter().all(|o| *o == not_new("gift")));
    assert_eq!(free(&shop, "Ann ").await, not_new("gift"));
    shop.issue(&[id(&outcomes[0])]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_customer_with_any_open_or_paid_order_is_not_new() {
    let shop = for_new_customers().await;
    let open = shop.place("ann", &[("card", 1)]).await;
    assert_eq!(free(&shop, "ann").await, not_new("gift"));
    shop.pay(open).await;
    assert_eq!(free(&shop, "ann").await, not_new("gift"));
    shop.issue(&[open]).await;
    assert_eq!(free(&shop, "ann").await, not_new("gift"));
    shop.close().await;
}

#[tokio::test]
async fn a_customer_who_only_cancelled_is_new() {
    let shop = for_new_customers().await;
    let order = shop.place("ann", &[("card", 1)]).await;
    shop.cancel(order).await;
    let gift = id(&free(&shop, "ann").await);
    shop.issue(&[gift]).await;
    shop.close().await;
}

/// Case P19: stock was left, and "sold out" was said.
#[tokio::test]
async fn stock_left_after_refusals_and_cancels_is_sold() {
    let shop = limited_to(1).await;
    shop.product("last", |_| ()).await;
    shop.stock("last", 1).await;
    let first = shop.place("ann", &[("last", 1)]).await;
    assert_eq!(shop.try_place(shop.new_order("bob", &[("last", 1)])).await, sold_out("last", 0));
    shop.cancel(first).await;
    shop.place("bob", &[("last", 1)]).await;
    shop.close().await;
}
