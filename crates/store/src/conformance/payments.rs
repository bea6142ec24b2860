//! Payments: each provider's reference once, matched or not, and notices that need a person.

use std::slice::from_ref;

use tessera_model::ids::{NoticeId, OrderId};
use tessera_model::pay::PaymentReason;
use tessera_model::text::Provider;

use super::Fixture;
use super::shop::cny;
use crate::payments::{Notice, Payment};

fn by_age(mut payments: Vec<Payment>) -> Vec<Payment> {
    payments.sort_by_key(|p| p.id);
    payments
}

/// The first claim of a reference gets it; a later one, with whatever amount, does not.
pub async fn payment_is_claimed_once(fixture: &Fixture) {
    let first = fixture.new_payment("order-1", 500);
    let again = Payment { reference: first.reference.clone(), ..fixture.new_payment("order-2", 7) };
    let new = fixture.new_payment("order-3", 1);
    assert_eq!(fixture.write(async |tx| tx.payments_claim(from_ref(&first)).await).await, [first.id]);
    let claimed = fixture.write(async |tx| tx.payments_claim(&[again.clone(), new.clone()]).await).await;
    assert_eq!(claimed, [new.id]);
    let names = [(again.provider, again.reference)];
    assert_eq!(fixture.read(async |tx| tx.payments_known(&names).await).await, [first]);
}

/// A set that holds a reference twice claims it once.
pub async fn reference_twice_in_one_set_is_claimed_once(fixture: &Fixture) {
    let first = fixture.new_payment("order-1", 500);
    let again = Payment { reference: first.reference.clone(), ..fixture.new_payment("order-1", 500) };
    let claimed = fixture.write(async |tx| tx.payments_claim(&[first.clone(), again.clone()]).await).await;
    assert_eq!(claimed.len(), 1);
}

/// References belong to their provider.
pub async fn reference_of_another_provider_is_another(fixture: &Fixture) {
    let one = fixture.new_payment("order-1", 500);
    let other = Payment {
        provider: Provider::parse("alipay").expect("a provider"),
        reference: one.reference.clone(),
        paid_at: None,
        ..fixture.new_payment("any text: 订单", i64::MAX)
    };
    let both = vec![one, other];
    assert_eq!(fixture.write(async |tx| tx.payments_claim(&both).await).await.len(), 2);
    let mut names: Vec<_> = both.iter().map(|p| (p.provider.clone(), p.reference.clone())).collect();
    names.push((both[0].provider.clone(), fixture.new_payment("order-1", 1).reference));
    assert_eq!(by_age(fixture.read(async |tx| tx.payments_known(&names).await).await), both);
}

/// What a transaction claimed it can put back; the reference is free then.
pub async fn unclaimed_payment_is_free_again(fixture: &Fixture) {
    let payment = fixture.new_payment("order-1", 500);
    let kept = fixture.new_payment("order-2", 500);
    fixture
        .write(async |tx| {
            tx.payments_claim(&[payment.clone(), kept.clone()]).await?;
            tx.payments_unclaim(&[payment.id]).await
        })
        .await;
    let claimed = fixture.write(async |tx| tx.payments_claim(&[payment.clone(), kept.clone()]).await).await;
    assert_eq!(claimed, [payment.id]);
}

/// An amount is above zero.
pub async fn payment_of_nothing_is_a_data_fault(fixture: &Fixture) {
    for minor in [0, -1] {
        let payment = Payment { amount: cny(minor), ..fixture.new_payment("order-1", 1) };
        fixture.assert_refused(async |tx| tx.payments_claim(from_ref(&payment)).await).await;
    }
}

/// A payment is matched with an order of the store, or with none and a reason.
pub async fn payment_is_matched_with_a_known_order_only(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 1)]).await;
    let payments = [fixture.new_payment("one", 100), fixture.new_payment("two", 100)];
    fixture.write(async |tx| tx.payments_claim(&payments).await).await;
    let explained = [
        (payments[0].id, Some(order.id), Some(PaymentReason::Over)),
        (payments[1].id, None, Some(PaymentReason::UnknownOrder)),
    ];
    fixture.write(async |tx| tx.payments_explain(&explained).await).await;
    let unknown = [(payments[0].id, Some(fixture.id(OrderId::new)), None)];
    fixture.assert_refused(async |tx| tx.payments_explain(&unknown).await).await;
}

/// Notices come back from the newest, page by page, with every byte that arrived.
pub async fn notices_are_listed_newest_first(fixture: &Fixture) {
    let notices: Vec<Notice> = (0..3)
        .map(|n| Notice {
            id: fixture.id(NoticeId::new),
            provider: Provider::parse("wxpay").expect("a provider"),
            reason: format!("bad signature {n}"),
            body: (0..=u8::MAX).collect(),
            received_at: fixture.ago(n),
        })
        .collect();
    fixture.write(async |tx| tx.notices_put(&notices).await).await;
    let first = fixture.read(async |tx| tx.notices_list(None, 2).await).await;
    assert!(first == [notices[2].clone(), notices[1].clone()]);
    let rest = fixture.read(async |tx| tx.notices_list(Some(notices[1].id), 2).await).await;
    assert!(rest == [notices[0].clone()]);
    // The same again, as a set that is run again brings it, changes nothing; trimming keeps the newest.
    fixture.write(async |tx| tx.notices_put(&notices[..1]).await).await;
    assert_eq!(fixture.read(async |tx| tx.notices_list(None, 9).await).await.len(), 3);
    fixture.write(async |tx| tx.notices_trim("bad signature 1", 0).await).await;
    fixture.write(async |tx| tx.notices_trim("bad signature 2", 1).await).await;
    assert!(
        fixture.read(async |tx| tx.notices_list(None, 9).await).await
            == [notices[2].clone(), notices[0].clone()]
    );
}
