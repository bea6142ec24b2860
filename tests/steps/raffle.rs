//! Raffles: rounds that follow each other, and their draws.

use tessera_issuer::IssueOutcome;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::round::RoundState;
use tessera_testbed::Shop;

mod burned;
mod call_off;
mod draws;
mod ending;

/// Orders that are paid and not yet issued.
async fn paid(shop: &Shop, sku: &str, quantities: &[i64]) -> Vec<OrderId> {
    let customer = |n: usize| format!("buyer {n}");
    let new: Vec<_> =
        (0..).zip(quantities).map(|(n, q)| shop.new_order(&customer(n), &[(sku, *q)])).collect();
    let ids: Vec<OrderId> = new.iter().map(|new| new.id).collect();
    for set in new.chunks(256) {
        shop.place_set(set.to_vec()).await;
    }
    let due = |n: usize| quantities[n] * 100;
    let notices: Vec<_> = (0..)
        .zip(&ids)
        .map(|(n, id)| shop.notice("acme", &shop.reference(), &id.to_string(), due(n), "CNY"))
        .collect();
    for set in notices.chunks(256) {
        shop.pay_set(set.to_vec()).await;
    }
    ids
}

/// Issues all of them, those that were put off too.
async fn issue(shop: &Shop, orders: &[OrderId]) {
    let mut left = orders.to_vec();
    while !left.is_empty() {
        let mut again = vec![];
        for set in left.chunks(256) {
            let outcomes = shop.issue(set).await;
            again.extend(
                set.iter().zip(outcomes).filter(|(_, o)| *o == IssueOutcome::Deferred).map(|(id, _)| *id),
            );
        }
        left = again;
    }
}

#[tokio::test]
async fn the_first_round_is_open_as_soon_as_the_product_is_there() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let rounds = shop.rounds(phone).await;
    assert_eq!((rounds.len(), rounds[0].number, rounds[0].state), (1, 1, RoundState::Open));
    // Applied again it is the same round, and the same commitment.
    shop.raffle("phone", 10, |_| ()).await;
    assert_eq!(shop.rounds(phone).await, rounds);
    shop.close().await;
}

/// Case P127: a full round goes on offering itself with nothing left.
#[tokio::test]
async fn the_last_shares_fill_a_round_and_the_rest_of_the_crowd_is_in_the_next() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 6_800, |_| ()).await;
    let first = paid(&shop, "phone", &[6_797]).await;
    issue(&shop, &first).await;
    let crowd = paid(&shop, "phone", &[1; 200]).await;
    issue(&shop, &crowd).await;
    let rounds = shop.rounds(phone).await;
    let sold: Vec<(RoundState, i64)> = rounds.iter().map(|round| (round.state, round.sold)).collect();
    assert_eq!(sold, [(RoundState::Full, 6_800), (RoundState::Open, 197)]);
    let mut numbers = shop.numbers_of(&rounds[0]).await;
    let in_order: Vec<i64> = (10_000_001..10_006_801).collect();
    assert_ne!(numbers, in_order, "they can be guessed");
    numbers.sort_unstable();
    assert_eq!(numbers, in_order);
    let mut next = shop.numbers_of(&rounds[1]).await;
    next.sort_unstable();
    next.dedup();
    assert_eq!(next.len(), 197);
    shop.close().await;
}

#[tokio::test]
async fn an_order_larger_than_the_rest_of_a_round_goes_on_in_the_next() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[7, 25]).await;
    issue(&shop, &orders).await;
    assert_eq!(shop.codes_of(orders[1]).await.len(), 25);
    let rounds = shop.rounds(phone).await;
    assert_eq!(rounds.iter().map(|r| r.sold).collect::<Vec<_>>(), [10, 10, 10, 2]);
    // The next round is open in the instant in which the last one is full.
    for (full, next) in rounds.iter().zip(&rounds[1..]) {
        assert_eq!(full.full_at, Some(next.opened_at));
    }
    shop.close().await;
}

#[tokio::test]
async fn a_set_opens_sixteen_rounds_at_most_and_the_next_set_goes_on() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 2, |_| ()).await;
    let orders = paid(&shop, "phone", &[20, 20, 1]).await;
    let outcomes = shop.issue(&orders).await;
    assert_eq!(outcomes, [IssueOutcome::Issued, IssueOutcome::Deferred, IssueOutcome::Deferred]);
    issue(&shop, &orders).await;
    assert_eq!(shop.statuses(&orders).await, [OrderStatus::Issued; 3]);
    assert_eq!(shop.rounds(phone).await.len(), 21);
    shop.close().await;
}

#[tokio::test]
async fn an_order_that_alone_opens_more_rounds_than_a_set_may_is_issued_all_the_same() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[40, 1]).await;
    // From the second round on each is of one share.
    shop.raffle("phone", 1, |_| ()).await;
    let outcomes = shop.issue(&orders).await;
    assert_eq!(outcomes, [IssueOutcome::Issued, IssueOutcome::Deferred]);
    assert_eq!(shop.issue(&orders).await[1], IssueOutcome::Issued);
    assert_eq!((shop.codes_of(orders[0]).await.len(), shop.rounds(phone).await.len()), (40, 33));
    shop.close().await;
}

/// Case P136: unpaid shares hold a round open for ever.
#[tokio::test]
async fn an_unpaid_order_keeps_no_share_from_others() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let unpaid = shop.place("idle", &[("phone", 3)]).await;
    let orders = paid(&shop, "phone", &[10]).await;
    issue(&shop, &orders).await;
    let rounds = shop.rounds(phone).await;
    assert_eq!((rounds[0].state, rounds[0].sold, rounds[1].sold), (RoundState::Full, 10, 0));
    shop.clock.advance(std::time::Duration::from_hours(1));
    assert_eq!(shop.expire_due().await, [unpaid]);
    // Paid late, it is in the round that is open then.
    shop.pay(unpaid).await;
    issue(&shop, &[unpaid]).await;
    assert_eq!(shop.rounds(phone).await[1].sold, 3);
    shop.close().await;
}

#[tokio::test]
async fn a_raffle_beside_a_card_is_issued_with_it_or_not_at_all() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    shop.product("card", |rules| rules.backorders = true).await;
    let order = shop.place("ann", &[("phone", 12), ("card", 1)]).await;
    shop.pay(order).await;
    assert_eq!(shop.issue(&[order]).await, [IssueOutcome::Backordered]);
    assert_eq!(shop.rounds(phone).await[0].sold, 0);
    shop.stock("card", 1).await;
    issue(&shop, &[order]).await;
    assert_eq!((shop.status(order).await, shop.codes_of(order).await.len()), (OrderStatus::Issued, 13));
    shop.close().await;
}

/// Case P17: a shortage on line 2 burns line 1's codes at each look.
#[tokio::test]
async fn a_short_second_line_takes_nothing_of_the_first_however_often_it_is_looked_at() {
    let shop = Shop::open().await;
    shop.product("a", |_| ()).await;
    shop.product("b", |rules| rules.backorders = true).await;
    shop.stock("a", 5).await;
    let order = shop.place("ann", &[("a", 1), ("b", 1)]).await;
    shop.pay(order).await;
    for _ in 0..20 {
        assert_eq!(shop.issue(&[order]).await, [IssueOutcome::Backordered]);
        assert_eq!((shop.shelf("a").await.unissued, shop.shelf("a").await.available()), (5, 4));
    }
    shop.stock("b", 1).await;
    issue(&shop, &[order]).await;
    assert_eq!(shop.shelf("a").await.unissued, 4);
    shop.close().await;
}
