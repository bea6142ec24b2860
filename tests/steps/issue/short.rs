//! Stock that ends in the middle of a set.

use std::time::Duration;

use tessera_issuer::{IssueOutcome, Work};
use tessera_model::order::OrderStatus;
use tessera_testbed::Shop;

const ORDERS: usize = 40;
const QUANTITY: i64 = 3;

/// Enough for 13 orders, and two codes more, which no order may get in part.
const FIRST: usize = 41;
const FILLED: usize = 13;

#[tokio::test]
async fn a_set_that_outlasts_its_stock_leaves_no_order_in_part_and_goes_on_in_order() {
    let shop = Shop::open().await;
    let card = shop.product("card", |rules| rules.backorders = true).await;
    let mut codes = shop.stock("card", FIRST).await;
    let mut orders = vec![];
    for number in 0..ORDERS {
        orders.push(shop.place(&format!("buyer {number}"), &[("card", QUANTITY)]).await);
        shop.clock.advance(Duration::from_millis(1));
        shop.pay(orders[number]).await;
    }
    for (number, outcome) in shop.issue(&orders).await.into_iter().enumerate() {
        assert_eq!(outcome == IssueOutcome::Issued, number < FILLED, "{number}: {outcome:?}");
    }
    assert_eq!(shop.number("SELECT sum(upto - start) FROM span WHERE kind = 'issue'").await, 39);
    codes.extend(shop.stock("card", ORDERS * 3 - FIRST).await);
    shop.issue_set(vec![Work::Stock(card)]).await;
    let mut given = vec![];
    for order in orders {
        assert_eq!(shop.status(order).await, OrderStatus::Issued);
        given.extend(shop.codes_of(order).await);
    }
    assert_eq!(given, codes, "they were not served in the order in which they paid");
    shop.close().await;
}
