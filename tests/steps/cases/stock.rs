//! The same code twice, and more sold than there is.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::{join, join_all};
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::PaymentOutcome;
use tessera_orders::place::PlaceOutcome;
use tessera_testbed::Shop;

use crate::http::api::{Api, Bought, order};

const HOLD: Duration = Duration::from_mins(15);

/// One second is left of it.
const ALMOST_HOLD: Duration = Duration::from_secs(899);

/// Places as many orders of one card at once; returns those that were accepted.
async fn accepted_of(shop: &Shop, count: usize) -> Vec<OrderId> {
    let new: Vec<_> = (0..count).map(|n| shop.new_order(&format!("buyer {n}"), &[("card", 1)])).collect();
    let placed = join_all(new.into_iter().map(|new| shop.try_place(new))).await;
    let accepted = placed.into_iter().filter_map(|outcome| match outcome {
        PlaceOutcome::Placed(placed) => Some(placed.order.id),
        _ => None,
    });
    accepted.collect()
}

/// Case P10: the lock was skipped where a hold had long to go yet, and the last unit was sold twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_code_goes_to_one_buyer_however_old_anothers_hold_is() {
    for age in [Duration::ZERO, HOLD / 2, ALMOST_HOLD] {
        let shop = Shop::open().await;
        shop.product("card", |_| ()).await;
        let codes = shop.stock("card", 2).await;
        let holder = shop.place("holder", &[("card", 1)]).await;
        shop.clock.advance(age);
        let accepted = accepted_of(&shop, 200).await;
        assert_eq!((accepted.len(), shop.shelf("card").await.available()), (1, 0), "at {age:?}");
        let both = [holder, accepted[0]];
        for order in both {
            assert_eq!(shop.pay(order).await, PaymentOutcome::Paid);
        }
        shop.issue(&both).await;
        assert_eq!([shop.codes_of(both[0]).await, shop.codes_of(both[1]).await].concat(), codes);
        shop.close().await;
    }
}

/// Case P13: stock was moved by a job after the order, and orders that came while the job was dead were too many.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_accepted_while_the_issuer_is_dead_are_never_more_than_the_stock() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 20).await;
    let mut orders = accepted_of(&shop, 5).await;
    join_all(orders.iter().map(|order| shop.pay(*order))).await;
    let hang = shop.faults.hang("commit", &"spans_append");
    let issuer = shop.start_issuer().await;
    hang.reached().await;
    issuer.kill().await;
    hang.die();
    orders.extend(accepted_of(&shop, 100).await);
    assert_eq!(orders.len(), 20);
    join_all(orders[5..].iter().map(|order| shop.pay(*order))).await;
    let issuer = shop.start_issuer().await;
    // What the dead issuer had in hand comes again by itself; whatever did not, the sweeper would find.
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    let codes = shop.number("SELECT sum(upto - start) FROM span WHERE kind = 'issue'").await;
    assert_eq!((codes, shop.shelf("card").await.unissued), (20, 0));
    shop.close().await;
}

/// Case P16: each poll of a paid order took a code, with the lock outside of the transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_paid_orders_polled_at_once_get_a_code_each() {
    let (mut api, codes) = Api::selling_later(100).await;
    let customers: Vec<String> = (0..100).map(|n| format!("u-{n}")).collect();
    let bought = join_all(customers.iter().map(|customer| api.place(customer, &[("card", 1)]))).await;
    for paid in join_all(bought.iter().map(|bought| api.ask(bought.pay()))).await {
        paid.json(202);
    }
    api.start_issuer().await;
    let poll = async |bought: &Bought| {
        for _ in 0..3 {
            api.show(bought).await;
        }
        api.ask(bought.get().wait(30)).await.json(200)["lines"][0]["codes"].clone()
    };
    let (polled, again) = join(join_all(bought.iter().map(poll)), join_all(bought.iter().map(poll))).await;
    assert_eq!(polled, again);
    let got: Vec<String> =
        polled.iter().flat_map(|codes| codes.as_array().unwrap()).map(|c| c["code"].to_string()).collect();
    assert_eq!(got.len(), 100, "one each");
    let quoted: BTreeSet<String> = codes.iter().map(|code| format!("\"{code}\"")).collect();
    assert_eq!(got.into_iter().collect::<BTreeSet<_>>(), quoted);
    api.close().await;
}

/// Case P89: "insufficient stock" though there was some, for as long as another order was not filled.
#[tokio::test]
async fn an_order_that_waits_holds_its_own_units_and_no_other() {
    let mut api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    api.shop.product("late", |rules| rules.backorders = true).await;
    api.shop.stock("card", 2).await;
    api.start_issuer().await;
    let waits = api.place("ann", &[("card", 1), ("late", 1)]).await;
    let one_more = async || {
        let more = api.place("bob", &[("card", 1)]).await;
        api.ask(order("cid", &[("card", 1)])).await.problem(409, "sold-out");
        more
    };
    // Beside an order that waits for its payment, and beside one that waits for its codes.
    api.ask(one_more().await.cancel()).await.json(200);
    api.ask(waits.pay()).await.json(202);
    api.shop.until(&[waits.order_id()], OrderStatus::Backordered).await;
    let more = one_more().await;
    assert_eq!(api.ask(more.pay().wait(30)).await.json(200)["status"], "issued");
    assert_eq!(api.show(&waits).await["status"], "backordered");
    api.close().await;
}
