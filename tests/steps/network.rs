//! Messages that come too often, or in another order than they were sent.

use futures_util::future::join_all;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use tessera_broker::Message;
use tessera_courier::message;
use tessera_model::event::{Event, Fact};
use tessera_model::ids::{EventId, OrderId, ProductId};
use tessera_model::order::OrderStatus;
use tessera_store::Clock;
use tessera_testbed::Shop;

/// How often each message comes.
const TIMES: usize = 100;

/// How many orders are paid.
const ORDERS: usize = 5;

/// Orders in which the messages come.
const SHUFFLES: u64 = 8;

async fn paid(shop: &Shop, count: usize) -> Vec<OrderId> {
    let mut orders = vec![];
    for n in 0..count {
        let order = shop.place(&format!("buyer {n}"), &[("card", 1)]).await;
        shop.pay(order).await;
        orders.push(order);
    }
    orders
}

/// Scenario 25.
#[tokio::test]
async fn each_message_a_hundred_times_at_once_to_two_issuers_gives_each_order_its_code_once() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", ORDERS * TIMES).await;
    let orders = paid(&shop, ORDERS).await;
    let issuers = [shop.start_issuer().await, shop.start_issuer().await];
    let mut messages = vec![];
    for order in &orders {
        messages.push(shop.paid_message(*order).await);
    }
    let publish = |turn: usize| shop.publish(messages[turn % ORDERS].clone());
    join_all((0..ORDERS * TIMES).map(publish)).await;
    shop.until(&orders, OrderStatus::Issued).await;
    shop.broker.until_acknowledged().await;
    for issuer in issuers {
        issuer.stop().await;
    }
    for order in orders {
        assert_eq!(shop.codes_of(order).await.len(), 1);
    }
    assert_eq!(shop.number("SELECT count(*) FROM span WHERE kind = 'issue'").await, 5);
    assert_eq!((shop.broker.left().await, shop.letters(None).await), (0, vec![]));
    shop.close().await;
}

/// What happens next.
enum Turn {
    Message(Message),
    Payment(OrderId),
    Stock,
}

/// How far an order has come.
fn rank(status: OrderStatus) -> u8 {
    match status {
        OrderStatus::AwaitingPayment => 0,
        OrderStatus::Paid => 1,
        OrderStatus::Backordered => 2,
        OrderStatus::Issued => 3,
        other => panic!("no message leads to {other:?}"),
    }
}

/// Waits until the issuer is done with everything, and sees that no order went back.
async fn settled(shop: &Shop, orders: &[OrderId], seen: &mut [(u8, i64)]) {
    shop.broker.until_acknowledged().await;
    for (order, seen) in orders.iter().zip(seen) {
        let now = shop.order(*order).await;
        let now = (rank(now.state.status()), now.version);
        assert!(now.0 >= seen.0 && now.1 >= seen.1, "{order} went from {seen:?} back to {now:?}");
        *seen = now;
    }
}

fn stock_message(shop: &Shop, card: ProductId) -> Message {
    let (id, at) = (EventId::new(shop.clock.now(), shop.entropy.bytes()), shop.clock.now());
    message(&Event { id, fact: Fact::StockAdded(card), product: card, at }, 1)
}

/// Scenario 26: before the payment, before the stock, after everything, twice and in any order.
#[tokio::test]
async fn messages_in_any_order_move_no_order_back_and_all_are_issued_in_the_end() {
    let shop = Shop::open().await;
    let card = shop.product("card", |rules| rules.backorders = true).await;
    let mut rng = StdRng::seed_from_u64(26);
    let issuer = shop.start_issuer().await;
    for _ in 0..SHUFFLES {
        let mut orders = vec![];
        let mut messages = vec![stock_message(&shop, card), stock_message(&shop, card)];
        for name in ["ann", "bob", "cid"] {
            let order = shop.place(name, &[("card", 1)]).await;
            let message = shop.paid_message(order).await;
            messages.extend([message.clone(), message]);
            orders.push(order);
        }
        // Payments and stock come at any place among the messages about them.
        let mut turns: Vec<Turn> = messages.iter().cloned().map(Turn::Message).collect();
        turns.extend(orders.iter().copied().map(Turn::Payment));
        turns.push(Turn::Stock);
        turns.shuffle(&mut rng);
        let mut seen = vec![(0, 0); orders.len()];
        for turn in turns {
            match turn {
                Turn::Message(message) => shop.publish(message).await,
                Turn::Payment(order) => drop(shop.pay(order).await),
                Turn::Stock => drop(shop.stock("card", orders.len()).await),
            }
            settled(&shop, &orders, &mut seen).await;
        }
        // The older ones once more, and what is certain to come in the end: the stock's.
        for message in messages.into_iter().rev() {
            shop.publish(message).await;
        }
        settled(&shop, &orders, &mut seen).await;
        assert_eq!(shop.statuses(&orders).await, [OrderStatus::Issued; 3]);
    }
    issuer.stop().await;
    assert_eq!(shop.letters(None).await, []);
    shop.close().await;
}
