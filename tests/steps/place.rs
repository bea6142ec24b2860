//! Place: new orders claim stock.

use std::time::Duration;

use futures_util::future::join_all;
use tessera_model::money::Currency;
use tessera_model::order::OrderStatus;
use tessera_model::pay::PaymentOutcome;
use tessera_model::place::{NewOrder, Refusal};
use tessera_model::text::Sku;
use tessera_orders::place::PlaceOutcome;
use tessera_store::{Clock, StoreError};
use tessera_testbed::{How, Shop};

mod doubt;
mod limits;
mod repeats;

fn sku(text: &str) -> Sku {
    Sku::parse(text).unwrap()
}

fn sold_out(text: &str, available: i64) -> PlaceOutcome {
    PlaceOutcome::Refused(Refusal::SoldOut { sku: sku(text), available })
}

fn is_placed(outcome: &PlaceOutcome) -> bool {
    matches!(outcome, PlaceOutcome::Placed(_))
}

#[tokio::test]
async fn a_paid_order_gets_the_oldest_codes() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    let codes = shop.stock("card", 5).await;
    let order = shop.place("ann", &[("card", 2)]).await;
    assert_eq!(shop.pay(order).await, PaymentOutcome::Paid);
    let issuer = shop.start_issuer().await;
    shop.until(&[order], OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!(shop.codes_of(order).await, codes[..2]);
    shop.close().await;
}

/// Case P34: buying exactly what was left was an error.
#[tokio::test]
async fn all_of_the_stock_can_be_bought_at_once_and_then_nothing() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    let codes = shop.stock("card", 7).await;
    assert_eq!(shop.try_place(shop.new_order("ann", &[("card", 8)])).await, sold_out("card", 7));
    let order = shop.place("ann", &[("card", 7)]).await;
    assert_eq!(shop.try_place(shop.new_order("bob", &[("card", 1)])).await, sold_out("card", 0));
    shop.pay(order).await;
    shop.issue(&[order]).await;
    assert_eq!(shop.codes_of(order).await, codes);
    assert_eq!(shop.try_place(shop.new_order("bob", &[("card", 1)])).await, sold_out("card", 0));
    shop.close().await;
}

#[tokio::test]
async fn of_200_orders_at_once_for_one_unit_one_is_placed() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 1).await;
    let orders: Vec<NewOrder> =
        (0..200).map(|n| shop.new_order(&format!("buyer {n}"), &[("card", 1)])).collect();
    let outcomes = join_all(orders.into_iter().map(|new| shop.try_place(new))).await;
    assert_eq!(outcomes.iter().filter(|o| is_placed(o)).count(), 1);
    assert_eq!(outcomes.iter().filter(|o| **o == sold_out("card", 0)).count(), 199);
    assert_eq!(shop.shelf("card").await.available(), 0);
    shop.close().await;
}

/// Case P8: the check and the taking were in two transactions, and updates were lost.
#[tokio::test]
async fn of_2000_orders_of_one_to_three_exactly_the_stock_is_placed() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 500).await;
    let orders =
        (0..2_000_i64).map(|n| shop.new_order(&format!("buyer {}", n % 300), &[("card", n % 3 + 1)]));
    let orders: Vec<NewOrder> = orders.collect();
    let placed = join_all(orders.into_iter().map(|new| shop.try_place(new))).await;
    let ids: Vec<_> = placed
        .iter()
        .filter_map(|outcome| match outcome {
            PlaceOutcome::Placed(placed) => Some(placed.order.id),
            _ => None,
        })
        .collect();
    assert_eq!(shop.shelf("card").await.available(), 0);
    for paid in join_all(ids.iter().map(|id| shop.pay(*id))).await {
        assert_eq!(paid, PaymentOutcome::Paid);
    }
    for set in ids.chunks(256) {
        shop.issue(set).await;
    }
    assert_eq!(shop.statuses(&ids).await, vec![OrderStatus::Issued; ids.len()]);
    assert_eq!(shop.number("SELECT sum(upto - start) FROM span WHERE kind = 'issue'").await, 500);
    shop.close().await;
}

#[tokio::test]
async fn lines_of_one_sku_are_one_line() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.product("gift", |rules| rules.price.minor = 5).await;
    shop.stock("card", 3).await;
    shop.stock("gift", 1).await;
    let order = shop.place("ann", &[("card", 1), ("gift", 1), ("card", 2)]).await;
    let lines = shop.lines(order).await;
    let told: Vec<_> = lines.iter().map(|l| (l.number, l.sku.as_str(), l.quantity)).collect();
    assert_eq!(told, [(1, "card", 3), (2, "gift", 1)]);
    assert_eq!(shop.order(order).await.amount.minor, 3_005);
    shop.close().await;
}

#[tokio::test]
async fn an_order_short_of_one_line_claims_nothing_of_the_others() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.product("gift", |_| ()).await;
    shop.stock("card", 5).await;
    let new = shop.new_order("ann", &[("card", 5), ("gift", 1)]);
    assert_eq!(shop.try_place(new).await, sold_out("gift", 0));
    assert_eq!(shop.shelf("card").await.claimed, 0);
    shop.place("bob", &[("card", 5)]).await;
    shop.close().await;
}

#[tokio::test]
async fn an_order_is_refused_for_the_first_reason_in_the_promised_order() {
    let shop = Shop::open().await;
    let (now, euro) = (shop.clock.now(), Currency::parse("EUR").unwrap());
    shop.product("off", |rules| rules.active = false).await;
    shop.product("euro", |rules| rules.price.currency = euro).await;
    let soon = now.plus(Duration::from_hours(1));
    shop.product("soon", |rules| {
        (rules.sale_starts_at, rules.max_per_order) = (Some(soon), Some(1));
    })
    .await;
    shop.product("few", |rules| (rules.max_per_order, rules.per_customer_limit) = (Some(1), Some(2))).await;
    let refusal = async |lines: &[(&str, i64)]| match shop.try_place(shop.new_order("ann", lines)).await {
        PlaceOutcome::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(refusal(&[("soon", 2), ("nil", 1)]).await, Refusal::NotFound(sku("nil")));
    assert_eq!(refusal(&[("soon", 2), ("off", 1)]).await, Refusal::NotFound(sku("off")));
    assert_eq!(refusal(&[("soon", 2), ("euro", 1)]).await, Refusal::MixedCurrencies);
    assert_eq!(refusal(&[("soon", 2)]).await, Refusal::SaleNotOpen(sku("soon")));
    let refused = refusal(&[("few", 2)]).await;
    assert!(matches!(refused, Refusal::LimitReached { allowed: 1, .. }), "{refused:?}");
    assert_eq!(refusal(&[("few", 1)]).await, Refusal::SoldOut { sku: sku("few"), available: 0 });
    assert_eq!(shop.number("SELECT count(*) FROM orders").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn a_sale_is_open_from_its_first_instant_to_the_last_before_its_end() {
    let shop = Shop::open().await;
    let (start, micro) = (shop.clock.now().plus(Duration::from_mins(1)), Duration::from_micros(1));
    let end = start.plus(Duration::from_mins(1));
    shop.product("card", |rules| {
        (rules.sale_starts_at, rules.sale_ends_at) = (Some(start), Some(end));
    })
    .await;
    shop.stock("card", 9).await;
    let at = async |instant| {
        shop.clock.set(instant);
        shop.try_place(shop.new_order("ann", &[("card", 1)])).await
    };
    assert_eq!(at(start.minus(micro)).await, PlaceOutcome::Refused(Refusal::SaleNotOpen(sku("card"))));
    assert!(is_placed(&at(start).await));
    assert!(is_placed(&at(end.minus(micro)).await));
    assert_eq!(at(end).await, PlaceOutcome::Refused(Refusal::SaleClosed(sku("card"))));
    shop.close().await;
}

#[tokio::test]
async fn a_free_order_is_paid_as_it_is_placed_and_published() {
    let shop = Shop::open().await;
    shop.product("gift", |rules| rules.price.minor = 0).await;
    let codes = shop.stock("gift", 1).await;
    let order = shop.place("ann", &[("gift", 1)]).await;
    assert_eq!(shop.status(order).await, OrderStatus::Paid);
    let issuer = shop.start_issuer().await;
    shop.until(&[order], OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!(shop.codes_of(order).await, codes);
    shop.close().await;
}

/// Case P44: an old price could be paid after the offer had ended. Here a late payment of the old order is honoured
/// at its own price while stock and limits allow; an order placed anew has the new price.
#[tokio::test]
async fn the_price_is_frozen_for_an_open_order_only() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 3).await;
    let before = shop.place("ann", &[("card", 1)]).await;
    let given_up = shop.place("ben", &[("card", 1)]).await;
    shop.product("card", |rules| rules.price.minor = 2_000).await;
    let after = shop.place("ann", &[("card", 1)]).await;
    assert_eq!(shop.order(before).await.amount.minor, 1_000);
    assert_eq!(shop.order(after).await.amount.minor, 2_000);
    assert_eq!(shop.pay_with("acme", "r", &before.to_string(), 1_000, "CNY").await, PaymentOutcome::Paid);
    shop.issue(&[before]).await;
    shop.clock.advance(Duration::from_mins(15));
    assert_eq!(shop.expire_due().await.len(), 2);
    let anew = shop.place("ben", &[("card", 1)]).await;
    assert_eq!(shop.order(anew).await.amount.minor, 2_000);
    // The old price pays nothing of the new order; it is the first order's, and honoured while there is stock.
    assert_eq!(shop.pay_with("acme", "s", &anew.to_string(), 1_000, "CNY").await, PaymentOutcome::Short);
    assert_eq!(shop.pay_with("acme", "t", &given_up.to_string(), 1_000, "CNY").await, PaymentOutcome::Paid);
    shop.issue(&[given_up]).await;
    shop.close().await;
}

#[tokio::test]
async fn a_price_is_changed_without_a_look_through_all_customers() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.faults.always(
        "products_sold",
        &"",
        How::Fail(StoreError::Unavailable("it takes too long".to_owned())),
    );
    shop.product("card", |rules| rules.price.minor = 5).await;
    shop.stock("card", 1).await;
    let order = shop.place("buyer", &[("card", 1)]).await;
    assert_eq!(shop.order(order).await.amount.minor, 5);
    shop.close().await;
}

#[tokio::test]
async fn a_product_with_backorders_is_sold_before_it_arrives() {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.backorders = true).await;
    let order = shop.place("ann", &[("card", 3)]).await;
    assert_eq!(shop.shelf("card").await.available(), -3);
    shop.pay(order).await;
    shop.issue(&[order]).await;
    assert_eq!(shop.status(order).await, OrderStatus::Backordered);
    shop.close().await;
}

#[tokio::test]
async fn a_refused_order_leaves_no_customer_behind() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 1).await;
    shop.place("ann", &[("card", 1)]).await;
    for name in ["ann", "bob"] {
        let refused = shop.place_set(vec![shop.new_order(name, &[("card", 1)])]).await;
        assert!(matches!(refused[0], Ok(PlaceOutcome::Refused(Refusal::SoldOut { .. }))));
    }
    assert_eq!(shop.number("SELECT count(*) FROM customer").await, 1, "ann, who has an order");
    shop.close().await;
}
