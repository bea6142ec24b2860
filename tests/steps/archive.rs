//! The archive: what the broker itself gave up on becomes a dead letter.

use std::sync::Arc;

use tessera_broker::Delivery;
use tessera_courier::Archive;
use tessera_model::order::OrderStatus;
use tessera_store::letters::LetterState;
use tessera_testbed::Shop;

fn archive(shop: &Shop) -> Archive {
    Archive::new(Arc::clone(&shop.store), shop.broker.clone(), Arc::clone(&shop.entropy))
}

fn given_up(kind: &str, body: &str) -> Delivery {
    Delivery {
        tag: 1,
        redelivered: true,
        message_id: Some("an-event".to_owned()),
        kind: Some(kind.to_owned()),
        body: body.as_bytes().to_vec(),
    }
}

#[tokio::test]
async fn what_the_broker_gave_up_is_a_letter_that_keeps_the_sweeper_off() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 1).await;
    let order = shop.place("buyer", &[("card", 1)]).await;
    shop.pay(order).await;
    let body = format!(r#"{{"v":1,"order_id":"{order}"}}"#);
    let twice = vec![given_up("order.paid", &body), given_up("order.paid", &body)];
    archive(&shop).keep(twice).await.unwrap();
    let letter = shop.letters(None).await.remove(0);
    assert_eq!((letter.order, letter.state), (Some(order), LetterState::Open));
    assert_eq!(letter.message_id.as_deref(), Some("an-event"));
    shop.clock.advance(std::time::Duration::from_mins(2));
    assert_eq!(shop.sweep().await, 0);
    shop.issue(&[order]).await;
    assert_eq!(shop.letters(None).await.len(), 0, "issuing it in any way resolves the letter");
    shop.close().await;
}

#[tokio::test]
async fn a_message_whose_order_is_done_needs_no_letter() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 1).await;
    let order = shop.place("buyer", &[("card", 1)]).await;
    shop.pay(order).await;
    shop.issue(&[order]).await;
    let body = format!(r#"{{"v":1,"order_id":"{order}"}}"#);
    assert_eq!(archive(&shop).keep(vec![given_up("order.paid", &body)]).await, Ok(0));
    assert_eq!(shop.status(order).await, OrderStatus::Issued);
    shop.close().await;
}

#[tokio::test]
async fn a_strangers_message_is_kept_without_an_order() {
    let shop = Shop::open().await;
    let unknown = r#"{"v":1,"order_id":"00000000-0000-7000-8000-000000000000"}"#;
    let strange = vec![given_up("order.shipped", "{"), given_up("order.paid", unknown)];
    assert_eq!(archive(&shop).keep(strange).await, Ok(2));
    assert!(shop.letters(None).await.iter().all(|letter| letter.order.is_none()));
    shop.close().await;
}
