//! Rounds that are called off before their draw.

use tessera_issuer::rounds::{CallOff, CallOffOutcome, call_off};
use tessera_model::ids::BatchId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_model::round::RoundState;
use tessera_testbed::Shop;

use super::{issue, paid};

async fn cancel(shop: &Shop, round: BatchId) -> CallOffOutcome {
    let wish = CallOff { round, reason: "the phone is not to be had".to_owned(), actor: "test".to_owned() };
    call_off(&shop.store, &shop.mint(), wish).await.unwrap()
}

#[tokio::test]
async fn a_round_called_off_gives_the_price_of_its_shares_back_and_the_next_goes_on() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[4, 8]).await;
    issue(&shop, &orders).await;
    let rounds = shop.rounds(phone).await;
    assert_eq!(cancel(&shop, rounds[0].id).await, CallOffOutcome::CalledOff(2));
    // The first has nothing else; the second goes on in the round that follows.
    assert_eq!(shop.statuses(&orders).await, [OrderStatus::RefundDue, OrderStatus::Issued]);
    assert_eq!(shop.money(orders[0]).await, [(MoneyState::RefundDue, 400)].into());
    assert_eq!(
        shop.money(orders[1]).await,
        [(MoneyState::Settled, 200), (MoneyState::RefundDue, 600)].into()
    );
    assert_eq!(cancel(&shop, rounds[0].id).await, CallOffOutcome::Past(RoundState::Cancelled));
    assert_eq!(shop.number("SELECT count(*) FROM audit WHERE action = 'round.cancel'").await, 1);
    shop.close().await;
}

#[tokio::test]
async fn a_round_called_off_while_it_is_sold_is_followed_by_the_next() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[4]).await;
    issue(&shop, &orders).await;
    cancel(&shop, shop.rounds(phone).await[0].id).await;
    let states: Vec<_> = shop.rounds(phone).await.iter().map(|r| (r.number, r.state, r.sold)).collect();
    assert_eq!(states, [(1, RoundState::Cancelled, 4), (2, RoundState::Open, 0)]);
    assert_eq!(shop.shelf("phone").await.unissued, 10);
    shop.close().await;
}

#[tokio::test]
async fn a_drawn_round_is_not_called_off() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[10]).await;
    issue(&shop, &orders).await;
    let id = shop.rounds(phone).await[0].id;
    shop.draw(id).await;
    assert_eq!(cancel(&shop, id).await, CallOffOutcome::Past(RoundState::Drawn));
    shop.close().await;
}
