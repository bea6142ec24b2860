//! Expire: holds that ended give their claims back.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::PaymentOutcome;
use tessera_orders::expire::Expire;
use tessera_store::{Clock, run_set};
use tessera_testbed::Shop;

const HOLD: Duration = Duration::from_mins(15);
const MICRO: Duration = Duration::from_micros(1);

async fn ordered() -> (Shop, OrderId) {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.per_customer_limit = Some(2)).await;
    shop.stock("card", 2).await;
    let order = shop.place("ann", &[("card", 2)]).await;
    (shop, order)
}

#[tokio::test]
async fn a_hold_ends_at_its_very_instant_and_not_before() {
    let (shop, order) = ordered().await;
    let end = shop.clock.now().plus(HOLD);
    shop.clock.set(end.minus(MICRO));
    assert_eq!(shop.expire_due().await, []);
    shop.clock.set(end);
    assert_eq!(shop.expire_due().await, [order]);
    assert_eq!(shop.status(order).await, OrderStatus::Expired);
    assert_eq!(shop.shelf("card").await.available(), 2);
    assert_eq!(shop.number("SELECT units FROM customer_product").await, 0);
    assert_eq!(shop.expire_due().await, []);
    shop.close().await;
}

#[tokio::test]
async fn an_order_is_payable_after_its_hold_until_it_expires() {
    let (shop, order) = ordered().await;
    shop.clock.advance(HOLD + HOLD);
    assert_eq!(shop.pay(order).await, PaymentOutcome::Paid);
    assert_eq!(shop.expire_due().await, []);
    shop.issue(&[order]).await;
    shop.close().await;
}

#[tokio::test]
async fn the_shortest_hold_of_an_orders_products_is_the_orders() {
    let (shop, _) = ordered().await;
    shop.product("quick", |rules| rules.hold = Duration::from_secs(2)).await;
    shop.product("slow", |_| ()).await;
    shop.stock("quick", 1).await;
    shop.stock("slow", 1).await;
    let order = shop.place("bob", &[("slow", 1), ("quick", 1)]).await;
    shop.clock.advance(Duration::from_secs(2));
    assert_eq!(shop.expire_due().await, [order]);
    shop.close().await;
}

#[tokio::test]
async fn what_was_paid_between_the_look_and_the_lock_does_not_expire() {
    let (shop, order) = ordered().await;
    shop.clock.advance(HOLD);
    shop.pay(order).await;
    let expired = run_set(Arc::clone(&shop.store), Arc::new(Expire), vec![order]).await;
    assert_eq!(expired, [Ok(false)]);
    shop.issue(&[order]).await;
    shop.close().await;
}

/// Case P47: an expiry that did not look at the state again overwrote a payment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expiry_and_payment_at_one_instant_leave_it_paid_in_either_order() {
    const RACES: usize = 1_000;
    /// Races at once: each expiry in a transaction of its own, and whichever payments come together in one.
    const AT_ONCE: usize = 20;
    let (shop, _) = ordered().await;
    shop.product("quick", |rules| rules.hold = Duration::from_secs(2)).await;
    shop.stock("quick", RACES).await;
    let mut expired_first = 0;
    for round in 0..RACES / AT_ONCE {
        let new = (0..AT_ONCE).map(|n| shop.new_order(&format!("buyer {round} {n}"), &[("quick", 1)]));
        let new: Vec<_> = new.collect();
        let orders: Vec<OrderId> = new.iter().map(|new| new.id).collect();
        shop.place_set(new).await;
        let notice = |id: &OrderId| shop.notice("acme", &shop.reference(), &id.to_string(), 1_000, "CNY");
        let notices: Vec<_> = orders.iter().map(notice).collect();
        shop.clock.advance(Duration::from_secs(2));
        let expire = |order| run_set(Arc::clone(&shop.store), Arc::new(Expire), vec![order]);
        let races = orders.iter().zip(notices).enumerate().map(async |(n, (order, notice))| match n % 2 {
            0 => tokio::join!(expire(*order), shop.desk.pay(notice)).0,
            _ => tokio::join!(shop.desk.pay(notice), expire(*order)).1,
        });
        let expired = join_all(races).await;
        expired_first += expired.iter().filter(|expired| ***expired == [Ok(true)]).count();
        // Expired first, it was revived by the payment: its unit was still there.
        assert_eq!(shop.statuses(&orders).await, vec![OrderStatus::Paid; AT_ONCE]);
        shop.issue(&orders).await;
        assert_eq!(shop.statuses(&orders).await, vec![OrderStatus::Issued; AT_ONCE]);
    }
    assert!((1..RACES).contains(&expired_first), "{expired_first} expired before they were paid: no race");
    let bad = "SELECT count(*) FROM span s JOIN orders o ON o.id = s.order_id WHERE o.status <> 'issued'";
    assert_eq!(shop.number(bad).await, 0);
    let codes = "SELECT sum(upto - start) FROM span WHERE kind = 'issue'";
    assert_eq!(shop.number(codes).await, 1_000);
    shop.close().await;
}

#[tokio::test]
async fn holds_that_ended_while_nobody_looked_expire_at_the_first_look() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 700).await;
    for chunk in 0..7 {
        let new = (0..100).map(|n| shop.new_order(&format!("buyer {chunk} {n}"), &[("card", 1)])).collect();
        shop.place_set(new).await;
    }
    shop.clock.advance(Duration::from_hours(24));
    assert_eq!(shop.expire_due().await.len(), 700);
    assert_eq!(shop.shelf("card").await.available(), 700);
    shop.close().await;
}

#[tokio::test]
async fn an_order_whose_row_is_damaged_keeps_no_other_from_expiring() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 3).await;
    let orders = [
        shop.place("a", &[("card", 1)]).await,
        shop.place("b", &[("card", 1)]).await,
        shop.place("c", &[("card", 1)]).await,
    ];
    let damage = format!("UPDATE orders SET currency = 'cny' WHERE id = {}", shop.literal(orders[1]));
    shop.operate(&damage).await;
    shop.clock.advance(HOLD);
    let expired = run_set(Arc::clone(&shop.store), Arc::new(Expire), orders.to_vec()).await;
    assert_eq!((&expired[0], &expired[2]), (&Ok(true), &Ok(true)));
    assert!(expired[1].is_err());
    shop.operate(&damage.replace("cny", "CNY")).await;
    assert_eq!(shop.expire_due().await, [orders[1]]);
    shop.close().await;
}
