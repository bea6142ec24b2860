//! Sets that fail, in part or in doubt.

use tessera_model::order::OrderStatus;
use tessera_model::place::NewOrder;
use tessera_orders::place::PlaceOutcome;
use tessera_store::{SetFault, StoreError};
use tessera_testbed::{How, Shop};

use super::is_placed;

async fn with_stock(count: usize) -> Shop {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", count).await;
    shop
}

fn wishes(shop: &Shop, count: usize) -> Vec<NewOrder> {
    (0..count).map(|n| shop.new_order(&format!("buyer {n}"), &[("card", 1)])).collect()
}

fn doubt() -> How {
    How::Fail(StoreError::InDoubt("the answer was lost".to_owned()))
}

#[tokio::test]
async fn one_order_that_cannot_be_stored_among_256_is_refused_alone() {
    for how in [How::Fail(StoreError::Data("CHECK constraint failed".to_owned())), How::Panic] {
        let shop = with_stock(256).await;
        let set = wishes(&shop, 256);
        shop.faults.always("orders_insert", &set[77].id, how);
        for (n, outcome) in shop.place_set(set).await.into_iter().enumerate() {
            match outcome {
                Ok(placed) => assert!(is_placed(&placed) && n != 77),
                Err(fault) => assert!(matches!(fault, SetFault::Data(_)) && n == 77, "{n}: {fault}"),
            }
        }
        assert_eq!(shop.shelf("card").await.claimed, 255);
        shop.close().await;
    }
}

#[tokio::test]
async fn a_store_that_is_away_refuses_the_whole_set_and_keeps_nothing_of_it() {
    let shop = with_stock(9).await;
    shop.faults.next(1, "stock_move", &"", How::Fail(StoreError::Unavailable("disk full".to_owned())));
    let set = wishes(&shop, 3);
    for outcome in shop.place_set(set.clone()).await {
        assert!(matches!(outcome, Err(SetFault::Store(StoreError::Unavailable(_)))));
    }
    assert_eq!(shop.number("SELECT count(*) FROM orders").await, 0);
    assert!(shop.place_set(set).await.into_iter().all(|outcome| is_placed(&outcome.unwrap())));
    shop.close().await;
}

#[tokio::test]
async fn a_set_whose_commit_was_in_doubt_makes_each_order_once() {
    for at in ["commit", "committed"] {
        let shop = with_stock(9).await;
        let mut set = wishes(&shop, 3);
        set.push(shop.keyed(shop.new_order("ann", &[("card", 1)]), 1, 1));
        set.push(shop.keyed(shop.new_order("ann", &[("card", 1)]), 1, 1));
        set.push(shop.new_order("bob", &[("card", 9)]));
        shop.faults.next(1, at, &"orders_insert", doubt());
        let outcomes: Vec<_> = shop.place_set(set.clone()).await.into_iter().map(Result::unwrap).collect();
        assert!(outcomes[..4].iter().all(is_placed), "{at}: {outcomes:?}");
        assert_eq!(outcomes[4], PlaceOutcome::Repeated(set[3].id), "{at}");
        assert!(matches!(outcomes[5], PlaceOutcome::Refused(_)), "{at}");
        assert_eq!(shop.shelf("card").await.claimed, 4);
        assert_eq!(shop.number("SELECT count(*) FROM orders").await, 4);
        shop.close().await;
    }
}

#[tokio::test]
async fn a_doubt_without_end_is_answered_as_the_stores_fault() {
    let shop = with_stock(9).await;
    shop.faults.always("commit", &"", doubt());
    let outcomes = shop.place_set(wishes(&shop, 1)).await;
    assert!(matches!(outcomes[0], Err(SetFault::Store(StoreError::InDoubt(_)))));
    shop.close().await;
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_cut_its_set_in_half() {
    let shop = with_stock(9).await;
    let set = wishes(&shop, 2);
    let hang = shop.faults.hang("orders_insert", &"");
    let mut commits = shop.faults.commits();
    commits.borrow_and_update();
    tokio::select! {
        biased;
        () = hang.reached() => {}
        _ = shop.place_set(set.clone()) => panic!("the set did not stand still"),
    }
    hang.go_on();
    commits.changed().await.unwrap();
    assert_eq!(shop.statuses(&[set[0].id, set[1].id]).await, [OrderStatus::AwaitingPayment; 2]);
    shop.close().await;
}
