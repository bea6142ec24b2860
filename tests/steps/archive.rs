//! The archive: what the broker itself gave up on.

use std::sync::Arc;
use std::time::Duration;

use tessera_broker::Delivery;
use tessera_courier::Archive;
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
async fn an_order_whose_message_the_broker_gave_up_is_published_anew() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 1).await;
    let order = shop.place("buyer", &[("card", 1)]).await;
    shop.pay(order).await;
    let body = format!(r#"{{"v":1,"order_id":"{order}"}}"#);
    let twice = vec![given_up("order.paid", &body), given_up("order.paid", &body)];
    assert_eq!(archive(&shop).keep(twice).await, Ok(0));
    shop.purge().await;
    shop.clock.advance(Duration::from_secs(4));
    assert_eq!(shop.sweep().await, 1);
    shop.issue(&[order]).await;
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
