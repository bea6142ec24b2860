//! The end of a raffle.

use tessera_issuer::{IssueOutcome, Work};
use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_model::place::Refusal;
use tessera_model::round::RoundState;
use tessera_orders::place::PlaceOutcome;
use tessera_testbed::Shop;

use super::{issue, paid};

#[tokio::test]
async fn what_is_left_of_the_last_round_is_claimed_like_stock() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |raffle| raffle.last_round = Some(2)).await;
    let early = shop.place("early", &[("phone", 4)]).await;
    assert_eq!(shop.shelf("phone").await.claimed, 0);
    let orders = paid(&shop, "phone", &[12]).await;
    issue(&shop, &orders).await;
    // The last round is open, and what waits to be paid is claimed from now on.
    let shelf = shop.shelf("phone").await;
    assert_eq!((shelf.unissued, shelf.claimed, shelf.endless), (8, 4, false));
    let refused = shop.try_place(shop.new_order("late", &[("phone", 5)])).await;
    assert!(matches!(refused, PlaceOutcome::Refused(Refusal::SoldOut { available: 4, .. })), "{refused:?}");
    let last = paid(&shop, "phone", &[4]).await;
    shop.pay(early).await;
    issue(&shop, &[early, last[0]]).await;
    let rounds = shop.rounds(phone).await;
    assert_eq!(rounds.iter().map(|r| r.state).collect::<Vec<_>>(), [RoundState::Full; 2]);
    let over = shop.try_place(shop.new_order("after", &[("phone", 1)])).await;
    assert!(matches!(over, PlaceOutcome::Refused(Refusal::SoldOut { .. })), "{over:?}");
    shop.close().await;
}

#[tokio::test]
async fn a_paid_order_that_finds_its_raffle_over_gets_its_money_back() {
    let shop = Shop::open().await;
    shop.raffle("phone", 10, |raffle| raffle.last_round = Some(2)).await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 1).await;
    // All of them were placed while another round was to follow.
    let orders = paid(&shop, "phone", &[12, 9]).await;
    let both = shop.place("ann", &[("phone", 8), ("card", 1)]).await;
    shop.pay(both).await;
    let outcomes = shop.issue(&[orders[0], both, orders[1]]).await;
    assert_eq!(outcomes, [IssueOutcome::Issued, IssueOutcome::Issued, IssueOutcome::Over]);
    assert_eq!(shop.status(orders[1]).await, OrderStatus::RefundDue);
    assert_eq!(shop.money(orders[1]).await, [(MoneyState::RefundDue, 900)].into());
    // A redelivery changes nothing.
    let again = shop.issue(&[orders[1]]).await;
    assert_eq!(again, [IssueOutcome::NothingToDo(OrderStatus::RefundDue)]);
    shop.close().await;
}

#[tokio::test]
async fn an_order_that_was_paid_back_before_its_raffle_was_over_is_refunded() {
    let shop = Shop::open().await;
    shop.raffle("phone", 10, |raffle| raffle.last_round = Some(2)).await;
    let orders = paid(&shop, "phone", &[12]).await;
    let late = shop.place("ann", &[("phone", 9)]).await;
    shop.pay_with("acme", "r", &late.to_string(), 900, "CNY").await;
    shop.told_back("r", "m", 900).await;
    assert_eq!(shop.status(late).await, OrderStatus::Paid);
    assert_eq!(shop.issue(&[orders[0], late]).await, [IssueOutcome::Issued, IssueOutcome::Over]);
    assert_eq!(shop.status(late).await, OrderStatus::Refunded);
    shop.close().await;
}

#[tokio::test]
async fn an_order_whose_raffle_is_over_makes_way_in_the_waitlist_it_stood_in() {
    let shop = Shop::open().await;
    shop.raffle("phone", 10, |raffle| raffle.last_round = Some(2)).await;
    let card = shop.product("card", |rules| rules.backorders = true).await;
    let both = shop.place("ann", &[("phone", 5), ("card", 1)]).await;
    let behind = shop.place("bob", &[("card", 1)]).await;
    let crowd = paid(&shop, "phone", &[16]).await;
    for order in [both, behind] {
        shop.pay(order).await;
        assert_eq!(shop.issue(&[order]).await, [IssueOutcome::Backordered]);
    }
    issue(&shop, &crowd).await;
    shop.stock("card", 1).await;
    shop.issue_set(vec![Work::Stock(card)]).await.remove(0).unwrap();
    assert_eq!(shop.statuses(&[both, behind]).await, [OrderStatus::RefundDue, OrderStatus::Issued]);
    assert_eq!(shop.number("SELECT count(*) FROM waitlist").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn a_raffle_that_is_put_away_sells_its_round_to_the_end_and_opens_no_other() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[6, 4, 1]).await;
    let kind =
        shop.store.snapshot().await.unwrap().products_read(&[phone]).await.unwrap().remove(0).rules.kind;
    shop.product("phone", |rules| {
        rules.kind = kind.clone();
        rules.price.minor = 100;
        rules.active = false;
    })
    .await;
    let outcomes = shop.issue(&orders).await;
    assert_eq!(outcomes, [IssueOutcome::Issued, IssueOutcome::Issued, IssueOutcome::Over]);
    assert_eq!(shop.rounds(phone).await.len(), 1);
    // Taken up again, it goes on with the next round.
    shop.raffle("phone", 10, |_| ()).await;
    let rounds = shop.rounds(phone).await;
    assert_eq!(
        rounds.iter().map(|r| (r.number, r.state)).collect::<Vec<_>>(),
        [(1, RoundState::Full), (2, RoundState::Open)]
    );
    shop.close().await;
}
