//! What issuers note of their store.

use tessera_broker::Broker;
use tessera_testbed::How;

use super::*;

/// The count, and how far the one batch is given out.
fn noted(seen: &Seen) -> (i64, i64) {
    (seen.copy.sets, seen.marks().first().map_or(0, |(_, upto)| *upto))
}

/// From now on an issuer sees its own sets alone.
fn no_look(shop: &Shop) {
    shop.faults.always("batches_issued", &"", How::Fail(StoreError::Unavailable("not now".to_owned())));
}

/// An order that is paid, and of which nobody was told.
async fn paid(shop: &Shop) -> OrderId {
    let order = shop.place("ann", &[("card", 1)]).await;
    let notice = shop.exact_notice(order).await;
    shop.pay_set(vec![notice]).await.pop().unwrap().unwrap();
    order
}

#[tokio::test]
async fn an_issuer_that_idles_knows_what_others_have_done() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 20).await;
    let issuer = shop.start_issuer().await;
    shop.note.until(|seen| noted(seen) == (0, 0)).await;
    // The step alone is an issuer elsewhere.
    for _ in 0..3 {
        let order = paid(&shop).await;
        shop.issue(&[order]).await;
    }
    shop.note.until(|seen| noted(seen) == (3, 3)).await;
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn a_set_whose_commit_was_in_doubt_is_noted() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 20).await;
    let issuer = shop.start_issuer().await;
    let doubt = How::Fail(StoreError::InDoubt("the answer was lost".to_owned()));
    shop.faults.next(1, "committed", &"spans_append", doubt);
    no_look(&shop);
    let order = bought(&shop, "card", 3).await;
    shop.until(&[order], OrderStatus::Issued).await;
    shop.note.until(|seen| noted(seen) == (1, 3)).await;
    issuer.stop().await;
    shop.close().await;
}

/// A set is halved for the order that fails; then the store goes away, and what was committed before is noted.
#[tokio::test]
async fn what_a_set_has_committed_is_noted_though_the_rest_of_it_fails() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 20).await;
    let issuer = shop.start_issuer().await;
    shop.broker.hand_out_whole_sets();
    let orders = [paid(&shop).await, paid(&shop).await];
    let messages = vec![shop.paid_message(orders[0]).await, shop.paid_message(orders[1]).await];
    no_look(&shop);
    let broken = How::Fail(StoreError::Data("broken".to_owned()));
    shop.faults.next(1, "spans_append", &orders[0], broken);
    // Of the halves, the second.
    shop.faults.always("spans_append", &orders[1], How::Fail(StoreError::Unavailable("gone".to_owned())));
    shop.broker.publish(messages).await.into_iter().for_each(Result::unwrap);
    shop.until(&orders[..1], OrderStatus::Issued).await;
    shop.note.until(|seen| noted(seen) == (1, 1)).await;
    shop.faults.clear();
    shop.until(&orders, OrderStatus::Issued).await;
    issuer.stop().await;
    shop.close().await;
}
