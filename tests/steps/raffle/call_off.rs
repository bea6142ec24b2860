//! Rounds that are called off before their draw.

use tessera_issuer::rounds::{CallOff, CallOffOutcome, call_off, pay_back_rest};
use tessera_model::ids::BatchId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_model::round::RoundState;
use tessera_store::StoreError;
use tessera_testbed::{How, Shop};

use super::{issue, paid};

async fn try_cancel(shop: &Shop, round: BatchId) -> Result<CallOffOutcome, StoreError> {
    let wish = CallOff { round, reason: "the phone is not to be had".to_owned(), actor: "test".to_owned() };
    call_off(&shop.store, &shop.mint(), wish).await
}

pub(super) async fn cancel(shop: &Shop, round: BatchId) -> CallOffOutcome {
    try_cancel(shop, round).await.unwrap()
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
    let told = "SELECT count(*) FROM span_cause c JOIN span s ON s.batch = c.batch AND s.upto = c.upto WHERE s.kind = 'void'";
    assert_eq!(shop.number(told).await, 1, "the ledger says why the rest is not sold");
    shop.close().await;
}

#[tokio::test]
async fn an_order_whose_rounds_are_all_called_off_is_to_be_refunded() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[4, 8, 9]).await;
    issue(&shop, &orders).await;
    let rounds = shop.rounds(phone).await;
    cancel(&shop, rounds[0].id).await;
    assert_eq!(cancel(&shop, rounds[1].id).await, CallOffOutcome::CalledOff(2));
    // The third has shares of the round that follows, too.
    let statuses = [OrderStatus::RefundDue, OrderStatus::RefundDue, OrderStatus::Issued];
    assert_eq!(shop.statuses(&orders).await, statuses);
    assert_eq!(shop.money(orders[1]).await, [(MoneyState::RefundDue, 800)].into());
    shop.close().await;
}

#[tokio::test]
async fn an_order_that_was_paid_back_before_its_round_was_called_off_is_refunded() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let order = shop.place("ann", &[("phone", 4)]).await;
    shop.pay_with("acme", "r", &order.to_string(), 400, "CNY").await;
    issue(&shop, &[order]).await;
    shop.told_back("r", "m", 400).await;
    assert_eq!(shop.status(order).await, OrderStatus::Issued);
    cancel(&shop, shop.rounds(phone).await[0].id).await;
    assert_eq!(shop.status(order).await, OrderStatus::Refunded);
    shop.close().await;
}

/// How many orders are to be refunded, and how much money is.
async fn refund_due(shop: &Shop) -> (i64, i64) {
    let orders = "SELECT count(*) FROM orders WHERE status = 'refund_due'";
    let money = "SELECT CAST(coalesce(sum(amount), 0) AS bigint) FROM money_entry WHERE state = 'refund_due'";
    (shop.number(orders).await, shop.number(money).await)
}

#[tokio::test]
async fn a_calling_off_that_is_cut_short_is_gone_on_with_and_pays_each_share_back_once() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 1_100, |_| ()).await;
    let orders = paid(&shop, "phone", &[1; 1_100]).await;
    issue(&shop, &orders).await;
    let round = shop.rounds(phone).await[0].id;
    let away = StoreError::Unavailable("away".to_owned());
    shop.faults.next(1, "repayments_move", &"", How::Fail(away.clone()));
    assert_eq!(try_cancel(&shop, round).await, Err(away));
    assert_eq!((shop.rounds(phone).await[0].state, refund_due(&shop).await), (RoundState::Cancelled, (0, 0)));
    // The first part is done, and nobody hears of it.
    let cut = StoreError::InDoubt("cut".to_owned());
    shop.faults.next(1, "committed", &"repayments_move", How::Fail(cut.clone()));
    assert_eq!(try_cancel(&shop, round).await, Err(cut));
    assert_eq!(refund_due(&shop).await, (1_000, 100_000));
    assert_eq!(pay_back_rest(&shop.store).await, Ok(100));
    assert_eq!(refund_due(&shop).await, (1_100, 110_000));
    assert_eq!(pay_back_rest(&shop.store).await, Ok(0));
    assert_eq!(cancel(&shop, round).await, CallOffOutcome::Past(RoundState::Cancelled));
    assert_eq!(shop.audited("round.cancel").await, 1);
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
