//! Copies of the data that are older than what an issuer has sold from.

use std::collections::HashSet;

use tessera_issuer::recover::{BURN, Recover, Recovered, recover};
use tessera_issuer::{Seen, SetNote, same_copy};
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::round::RoundState;
use tessera_store::{SetFault, StoreError};
use tessera_testbed::Shop;

mod copies;
mod notes;

fn wish(burn: Option<i64>, seen: Vec<Seen>) -> Recover {
    Recover { burn, skip: None, seen, actor: "test".to_owned(), reason: Some("restored".to_owned()) }
}

async fn recovered(shop: &Shop, burn: Option<i64>) -> Recovered {
    let seen = shop.note.clone().kept();
    recover(&shop.store, &shop.mint(), wish(burn, seen)).await.unwrap()
}

/// The store as a copy is that was made before the last issuing set.
async fn made_older(shop: &Shop) {
    shop.operate("UPDATE store SET sets = sets - 1").await;
}

async fn sets(shop: &Shop) -> i64 {
    shop.number("SELECT sets FROM store").await
}

async fn bought(shop: &Shop, sku: &str, quantity: i64) -> OrderId {
    let order = shop.place("ann", &[(sku, quantity)]).await;
    if shop.status(order).await == OrderStatus::AwaitingPayment {
        shop.pay(order).await;
    }
    order
}

/// Buys from an issuer that runs; returns the codes.
async fn sold(shop: &Shop, sku: &str, orders: usize) -> Vec<String> {
    let mut codes = vec![];
    for _ in 0..orders {
        let order = bought(shop, sku, 2).await;
        shop.until(&[order], OrderStatus::Issued).await;
        codes.extend(shop.codes_of(order).await);
    }
    codes
}

#[tokio::test]
async fn an_issuer_stands_still_on_an_older_copy_until_it_is_recovered() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 20).await;
    let issuer = shop.start_issuer().await;
    sold(&shop, "card", 1).await;
    issuer.stop().await;
    made_older(&shop).await;

    // Neither a new issuer nor one that goes on takes anything.
    let (issuer, _) = shop.start_waiting_issuer();
    let second = bought(&shop, "card", 2).await;
    assert_eq!(same_copy(&shop.store, shop.note.clone().kept()).await, Ok(None));
    assert!(!*issuer.consuming.borrow());
    assert_eq!(shop.status(second).await, OrderStatus::Paid);

    let done = recovered(&shop, Some(3)).await;
    assert_eq!((done.burned.len(), done.burned[0].1), (1, 3));
    assert!(done.last_payment.is_some());
    shop.until(&[second], OrderStatus::Issued).await;
    assert_eq!(shop.number("SELECT count(*) FROM audit WHERE action = 'store.recover'").await, 1);
    assert_eq!(shop.shelf("card").await.unissued, 20 - 2 - 3 - 2);
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn what_one_issuer_finds_older_nobody_sells_from() {
    let mut shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 20).await;
    let issuer = shop.start_issuer().await;
    let held = bought(&shop, "card", 2).await;
    shop.until(&[held], OrderStatus::Issued).await;
    issuer.stop().await;
    made_older(&shop).await;
    let (refusing, _) = shop.start_waiting_issuer();
    shop.until_true(async || shop.number("SELECT count(*) FROM store WHERE suspended").await == 1).await;

    // A newcomer would believe the store, and operators do not compare at all.
    let knows = std::mem::take(&mut shop.note);
    let (newcomer, _) = shop.start_waiting_issuer();
    let next = bought(&shop, "card", 2).await;
    let refused = shop.issue_set(vec![tessera_issuer::Work::Order(next)]).await;
    assert!(matches!(refused[0], Err(SetFault::Store(StoreError::Unavailable(_)))));
    assert_eq!(same_copy(&shop.store, vec![]).await, Ok(None));
    let replaced = crate::cards::replace_first(&shop, held).await;
    assert!(matches!(replaced, Err(SetFault::Store(StoreError::Unavailable(_)))), "{replaced:?}");
    assert!(!*newcomer.consuming.borrow() && !*refusing.consuming.borrow());

    recover(&shop.store, &shop.mint(), wish(Some(2), knows.clone().kept())).await.unwrap();
    shop.until(&[next], OrderStatus::Issued).await;
    refusing.stop().await;
    newcomer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn an_issuer_with_an_empty_folder_must_believe_the_store() {
    let shop = Shop::open().await;
    let seen = same_copy(&shop.store, vec![]).await.unwrap().unwrap();
    assert_eq!((seen.copy.sets, seen.marks()), (0, [].as_slice()));
    shop.close().await;
}

#[tokio::test]
async fn without_a_note_that_tells_a_stated_number_is_burned() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 2_000).await;
    let done = recover(&shop.store, &shop.mint(), wish(None, vec![])).await.unwrap();
    assert_eq!(done.burned[0].1, BURN);
    shop.close().await;
}

#[tokio::test]
async fn a_round_that_is_burned_to_its_end_is_full_and_followed_by_the_next() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 5, |_| ()).await;
    let order = bought(&shop, "phone", 2).await;
    shop.issue(&[order]).await;
    let done = recovered(&shop, Some(100)).await;
    let rounds = shop.rounds(phone).await;
    assert_eq!((rounds[0].state, rounds[1].state), (RoundState::Full, RoundState::Open));
    assert_eq!((done.rounds, done.called_off), (vec![rounds[0].id], vec![]));
    let next = bought(&shop, "phone", 1).await;
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
