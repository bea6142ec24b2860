//! Repayments: how far the shares of a round that was called off are paid back.

use super::Fixture;
use super::rounds::{FULL, SHARES, raffle, round};
use super::shop::issue_span;

/// A repayment goes on behind the shares that are done, and is gone when all of them are.
pub async fn repayment_goes_on_where_it_was_left(fixture: &Fixture) {
    let product = raffle(fixture).await;
    let open = round(fixture, product.id, 1, Some(FULL));
    let id = open.round.id;
    let first = fixture.place_paid("ann", &[(&product, 4)]).await.id;
    let second = fixture.place_paid("bob", &[(&product, SHARES - 4)]).await.id;
    let lock = async || fixture.write(async |tx| tx.repayments_lock(id).await).await;
    fixture
        .write(async |tx| {
            tx.rounds_open(&[open]).await?;
            let shares = [issue_span(id, 0, 4, SHARES, first), issue_span(id, 4, SHARES, SHARES, second)];
            tx.spans_append(&shares).await?;
            tx.rounds_cancel(id).await
        })
        .await;
    assert_eq!(lock().await, None);
    fixture.write(async |tx| tx.repayments_begin(id).await).await;
    assert_eq!(lock().await, Some(0));
    fixture.assert_refused(async |tx| tx.repayments_begin(id).await).await;
    let shares = async |upto, limit| {
        let shares = fixture.read(async |tx| tx.repayments_shares(id, upto, limit).await).await;
        shares.iter().map(|share| (share.order, share.start, share.upto)).collect::<Vec<_>>()
    };
    assert_eq!(shares(0, 1).await, [(first, 0, 4)]);
    assert_eq!(shares(4, 9).await, [(second, 4, SHARES)]);
    fixture.write(async |tx| tx.repayments_move(id, 4).await).await;
    let list = async || fixture.read(async |tx| tx.repayments_list().await).await;
    assert_eq!((lock().await, list().await), (Some(4), vec![id]));
    fixture.write(async |tx| tx.repayments_end(id).await).await;
    assert_eq!((lock().await, list().await), (None, vec![]));
}
