//! Copies of the data that are older than what an issuer has sold from.

use tessera_issuer::recover::{Recover, recover};
use tessera_issuer::same_copy;
use tessera_model::order::OrderStatus;
use tessera_model::round::RoundState;
use tessera_testbed::Shop;

fn wish(burn: i64) -> Recover {
    Recover { burn, actor: "test".to_owned(), reason: Some("restored".to_owned()) }
}

/// The store as a copy is that was made before the last issuing set.
async fn made_older(shop: &Shop) {
    shop.operate("UPDATE store SET sets = sets - 1").await;
}

async fn bought(shop: &Shop, name: &str) -> tessera_model::ids::OrderId {
    let order = shop.place(name, &[("card", 2)]).await;
    shop.pay(order).await;
    order
}

#[tokio::test]
async fn an_issuer_stands_still_on_an_older_copy_until_it_is_recovered() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 20).await;
    let issuer = shop.start_issuer().await;
    let first = bought(&shop, "ann").await;
    shop.until(&[first], OrderStatus::Issued).await;
    issuer.stop().await;
    made_older(&shop).await;

    // Neither a new issuer nor one that goes on takes anything.
    let (issuer, _) = shop.start_waiting_issuer();
    let second = bought(&shop, "bob").await;
    let mut note = shop.note.clone();
    let kept = tessera_issuer::SetNote::kept(&mut note);
    assert_eq!(same_copy(&shop.store, kept).await, Ok(false));
    assert!(!*issuer.consuming.borrow());
    assert_eq!(shop.status(second).await, OrderStatus::Paid);

    let done = recover(&shop.store, &shop.entropy, wish(3)).await.unwrap();
    assert_eq!((done.burned.len(), done.burned[0].1), (1, 3));
    assert!(done.last_payment.is_some());
    shop.until(&[second], OrderStatus::Issued).await;
    assert_eq!(shop.number("SELECT count(*) FROM audit WHERE action = 'store.recover'").await, 1);
    assert_eq!(shop.shelf("card").await.unissued, 20 - 2 - 3 - 2);
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn an_issuer_with_an_empty_folder_must_believe_the_store() {
    let shop = Shop::open().await;
    assert_eq!(same_copy(&shop.store, None).await, Ok(true));
    shop.close().await;
}

#[tokio::test]
async fn a_round_that_was_burned_to_its_end_is_followed_by_the_next() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    let phone = shop.raffle("phone", 5, |_| ()).await;
    let order = shop.place("ann", &[("phone", 2)]).await;
    shop.pay(order).await;
    shop.issue(&[order]).await;
    recover(&shop.store, &shop.entropy, wish(100)).await.unwrap();
    let next = shop.place("bob", &[("phone", 1)]).await;
    shop.pay(next).await;
    shop.issue(&[next]).await;
    let rounds: Vec<_> = shop.rounds(phone).await.iter().map(|r| (r.state, r.sold)).collect();
    assert_eq!(rounds, [(RoundState::Full, 2), (RoundState::Open, 1)]);
    // Only a share that was sold can win.
    let first = shop.rounds(phone).await[0].id;
    shop.draw(first).await;
    let winner = shop.rounds(phone).await[0].drawn.unwrap();
    assert!(winner.position < 2);
    shop.close().await;
}
