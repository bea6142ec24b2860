//! Payments about the end of a hold, and after it.

use std::time::Duration;

use serde_json::json;
use tessera_api::timestamp;
use tessera_model::pay::MoneyState;
use tessera_store::Clock;

use crate::http::payments::notice::{one_placed, outcome, settled};

const HOLD: Duration = Duration::from_mins(15);

const SECOND: Duration = Duration::from_secs(1);

/// Case P38: a payment of a cancelled order showed the page that says thank you. The order stays cancelled, and says that
/// its money is to be paid back; neither paid nor unpaid.
#[tokio::test]
async fn late_money_of_a_cancelled_order_is_shown_as_due_back() {
    let (api, bought) = one_placed(1).await;
    api.ask(bought.cancel()).await.json(200);
    let other = api.place("bob", &[("card", 1)]).await;
    assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, "refund_due");
    let shown = api.show(&bought).await;
    let portion = json!({ "minor": 1_000, "currency": "CNY" });
    assert_eq!(
        (&shown["status"], &shown["payments"][0]["state"]),
        (&json!("cancelled"), &json!("refund_due"))
    );
    assert_eq!(shown["payments"][0]["amount"], portion);
    assert_eq!(shown["lines"][0]["codes"], json!([]));
    assert_eq!(api.show(&other).await["status"], "awaiting_payment");
    api.close().await;
}

/// Case P40: whether late payments were taken was not what the setting said. A second before the end, at it and after it:
/// what decides is the order's state, which the housekeeper moves within 2 s, and then whether there is stock.
#[tokio::test]
async fn about_the_end_of_a_hold_the_state_decides_and_then_the_stock() {
    for (seconds, expires, left, said) in [
        (-1_i32, true, 1, "paid"),
        (0, false, 1, "paid"),
        (0, true, 1, "paid"),
        (1, true, 1, "paid"),
        (1, true, 0, "refund_due"),
    ] {
        let (api, bought) = one_placed(1).await;
        let end = api.shop.clock.now().plus(HOLD);
        api.shop.clock.set(if seconds < 0 {
            end.minus(SECOND)
        } else {
            end.plus(SECOND * seconds.unsigned_abs())
        });
        if expires {
            let expired = api.shop.expire_due().await;
            assert_eq!(expired.len(), usize::from(seconds >= 0), "at {seconds} s");
        }
        if left == 0 {
            api.place("bob", &[("card", 1)]).await;
        }
        let what = format!("at {seconds} s, expired {expires}, {left} left");
        assert_eq!(outcome(&api, &settled("T-1", bought.id(), 1_000)).await, said, "{what}");
        let status = if said == "paid" { "paid" } else { "expired" };
        assert_eq!(api.show(&bought).await["status"], status, "{what}");
        api.close().await;
    }
}

/// Case P49: the bank said that it was paid in time, and its message came a day late. What the bank said is kept with the
/// payment; whether it is in time the order's state decides, so it is honoured while there is stock.
#[tokio::test]
async fn a_message_a_day_late_is_taken_with_what_the_bank_said() {
    for (left, said) in [(1, "paid"), (0, "refund_due")] {
        let (api, bought) = one_placed(1).await;
        let paid_at = api.shop.clock.now().plus(Duration::from_mins(10));
        api.shop.clock.advance(Duration::from_hours(24));
        assert_eq!(api.shop.expire_due().await, [bought.order_id()]);
        if left == 0 {
            api.place("bob", &[("card", 1)]).await;
        }
        let mut notice = settled("T-1", bought.id(), 1_000);
        notice["paid_at"] = json!(tessera_api::rfc3339(paid_at));
        assert_eq!(outcome(&api, &notice).await, said);
        let payment = api.shop.payments(None).await.remove(0);
        assert_eq!(payment.payment.paid_at, Some(paid_at));
        assert_eq!(payment.received_at, api.shop.clock.now());
        assert!(timestamp(notice["paid_at"].as_str().unwrap()).is_some());
        api.close().await;
    }
}

/// Case P55: the good news of an expired order was dropped. Nothing is: each is a payment with its money in a state.
#[tokio::test]
async fn no_payment_of_an_expired_order_is_dropped() {
    let (api, bought) = one_placed(1).await;
    api.shop.clock.advance(HOLD);
    api.shop.expire_due().await;
    api.place("bob", &[("card", 1)]).await;
    for (reference, minor) in [("T-1", 1_000), ("T-2", 999), ("T-3", 1_001)] {
        assert_eq!(outcome(&api, &settled(reference, bought.id(), minor)).await, "refund_due");
        assert_eq!(outcome(&api, &settled(reference, bought.id(), minor)).await, "duplicate");
    }
    let owed = api.shop.payments(Some(MoneyState::RefundDue)).await;
    assert_eq!(owed.len(), 3);
    assert!(owed.iter().all(|payment| payment.order == Some(bought.order_id()) && payment.reason.is_some()));
    assert_eq!(api.shop.money(bought.order_id()).await, [(MoneyState::RefundDue, 3_000)].into());
    api.close().await;
}
