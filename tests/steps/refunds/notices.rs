//! Notices that a payment was paid back.

use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_orders::refunds::{RefundOutcome, RefundTold};

use super::{kept, paid, tell, text};

#[tokio::test]
async fn a_refund_notice_takes_refund_due_then_settled_and_moves_no_order() {
    let (shop, order, payment) = paid(1_300).await;
    shop.issue(&[order]).await;
    assert_eq!(shop.told_back("r", "m1", 500).await, kept(payment, 500));
    let split = [(MoneyState::Settled, 800), (MoneyState::Refunded, 500)];
    assert_eq!(shop.money(order).await, split.into());
    assert_eq!(shop.told_back("r", "m1", 500).await, RefundOutcome::Repeated(payment));
    assert_eq!(shop.told_back("r", "m2", 500).await, kept(payment, 500));
    assert_eq!(shop.status(order).await, OrderStatus::Issued);
    assert_eq!(shop.told_back("r", "m3", 300).await, kept(payment, 300));
    // All of it is back: an operator who refunds it now has nothing to wait for.
    shop.refund(order).await;
    assert_eq!(shop.status(order).await, OrderStatus::Refunded);
    assert!(shop.notices().await.is_empty());
    shop.close().await;
}

#[tokio::test]
async fn a_refund_notice_of_the_last_money_completes_an_order_that_is_refund_due() {
    let (shop, order, payment) = paid(1_000).await;
    shop.refund(order).await;
    assert_eq!(shop.told_back("r", "m1", 1_000).await, kept(payment, 1_000));
    assert_eq!(shop.status(order).await, OrderStatus::Refunded);
    shop.close().await;
}

#[tokio::test]
async fn a_refund_that_an_operator_confirmed_and_a_notice_tells_of_counts_once() {
    let (shop, order, payment) = paid(1_300).await;
    assert_eq!(shop.confirm(payment, "b1", None).await, kept(payment, 300));
    for _ in 0..3 {
        shop.told_back("r", "m1", 300).await;
    }
    let split = [(MoneyState::Settled, 1_000), (MoneyState::Refunded, 300)];
    assert_eq!(shop.money(order).await, split.into());
    assert!(shop.notices().await.is_empty());
    shop.close().await;
}

#[tokio::test]
async fn a_refund_notice_that_does_not_fit_is_kept_and_what_is_there_moves() {
    let (shop, order, payment) = paid(1_000).await;
    let part = RefundOutcome::Kept { payment, moved: 1_000, fits: false };
    assert_eq!(shop.told_back("r", "m1", 1_001).await, part);
    assert_eq!(shop.told_back("r", "m1", 7).await, RefundOutcome::Recorded, "the id is another refund's");
    assert_eq!(shop.told_back("unknown", "m2", 7).await, RefundOutcome::Recorded);
    let euro = shop.refund_notice("r", "m3", 7, "EUR");
    assert_eq!(tell(&shop, RefundTold::Notice(euro)).await, Ok(RefundOutcome::Recorded));
    let mut other = shop.refund_notice("r", "m4", 7, "CNY");
    other.order = Some(text(shop.place("bob", &[("card", 1)]).await));
    assert_eq!(tell(&shop, RefundTold::Notice(other)).await, Ok(RefundOutcome::Recorded));
    let reasons: Vec<String> = shop.notices().await.into_iter().map(|n| n.reason).collect();
    let words = ["another order", "in EUR", "not known", "came again", "1 found no money"];
    assert_eq!(reasons.len(), words.len());
    for word in words {
        assert!(reasons.iter().any(|reason| reason.contains(word)), "{word}: {reasons:?}");
    }
    assert_eq!(shop.money(order).await, [(MoneyState::Refunded, 1_000)].into());
    shop.close().await;
}

#[tokio::test]
async fn short_money_stays_with_its_order_and_the_notice_is_kept() {
    let (shop, order, payment) = paid(400).await;
    let nothing = RefundOutcome::Kept { payment, moved: 0, fits: false };
    assert_eq!(shop.told_back("r", "m1", 400).await, nothing);
    assert_eq!(shop.money(order).await, [(MoneyState::Short, 400)].into());
    assert_eq!(shop.notices().await.len(), 1);
    shop.close().await;
}

#[tokio::test]
async fn one_notice_fifty_times_in_one_set_moves_money_once() {
    let (shop, order, _) = paid(1_300).await;
    let set = (0..50).map(|_| RefundTold::Notice(shop.refund_notice("r", "m1", 100, "CNY"))).collect();
    let outcomes = shop.refund_set(set).await;
    assert!(outcomes[1..].iter().all(|o| matches!(o, Ok(RefundOutcome::Repeated(_)))));
    assert_eq!(shop.money(order).await[&MoneyState::Refunded], 100);
    shop.close().await;
}
