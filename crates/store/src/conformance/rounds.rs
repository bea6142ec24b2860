//! Rounds: one of a raffle is sold at a time, and what it promised stays.

use std::time::Duration;

use tessera_model::draw::{Beacon, EntropyRule};
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::product::{Kind, Product, Raffle};
use tessera_model::round::{Drawn, NewRound, RoundState, Turned};

use super::Fixture;
use super::shop::{issue_span, wrapped};
use crate::Result;
use crate::rounds::RoundToOpen;

pub(super) const SHARES: i64 = 10;

const BEACON: EntropyRule = EntropyRule::Beacon(Beacon::DrandQuicknet);

/// A raffle with its own key, and no round yet.
pub(super) async fn raffle(fixture: &Fixture) -> Product {
    let mut product = fixture.product("phone").await;
    product.rules.kind = Kind::Raffle(Raffle {
        shares: SHARES,
        first_number: 100,
        draw_after: Duration::from_mins(10),
        last_round: Some(3),
        entropy_rule: EntropyRule::None,
    });
    fixture
        .write(async |tx| {
            tx.products_put(std::slice::from_ref(&product)).await?;
            tx.raffles_put(&[(product.id, wrapped(1))]).await?;
            // The key that is there stays.
            tx.raffles_put(&[(product.id, wrapped(2))]).await
        })
        .await;
    product
}

pub(super) fn round(
    fixture: &Fixture,
    product: ProductId,
    number: i64,
    turned: Option<Turned>,
) -> RoundToOpen {
    let round = NewRound {
        id: fixture.id(BatchId::new),
        product,
        number,
        shares: SHARES,
        first_number: 100,
        draw_after: Duration::from_mins(10),
        entropy_rule: EntropyRule::None,
        commitment: [7; 32],
        digest: [0; 32],
    };
    RoundToOpen { round, key: wrapped(3), turned }
}

async fn open(fixture: &Fixture, round: &RoundToOpen) -> Result<()> {
    fixture.attempt(async |tx| tx.rounds_open(std::slice::from_ref(round)).await).await
}

pub(super) const FULL: Turned = Turned { digest: [9; 32], full: true };

/// A raffle is read with its key, its highest round and the one on sale.
pub async fn raffle_is_read_with_its_round_on_sale(fixture: &Fixture) {
    let product = raffle(fixture).await;
    let card = fixture.product("card").await;
    let ids = [product.id, card.id];
    let before = fixture.read(async |tx| tx.raffles_read(&ids).await).await.remove(0);
    assert_eq!((before.product, before.key, before.last, before.round), (product.id, wrapped(1), 0, None));
    let first = round(fixture, product.id, 1, None);
    open(fixture, &first).await.expect("a round");
    let after = fixture.read(async |tx| tx.raffles_read(&ids).await).await;
    let on_sale = after[0].round.as_ref().expect("a round on sale");
    assert_eq!((after.len(), after[0].last, on_sale.number, on_sale.digest), (1, 1, 1, [0; 32]));
    assert_eq!((on_sale.batch.id, on_sale.batch.size, on_sale.batch.issued), (first.round.id, SHARES, 0));
    // The issuer's other batches are without it, and the stock has it.
    assert!(fixture.write(async |tx| tx.batches_open_of(&ids).await).await.is_empty());
    let stock = fixture.read(async |tx| tx.stock_read(&[product.id]).await).await[0].1;
    assert_eq!(stock.unissued, SHARES);
}

/// A second round on sale, a number that was had, and one whose batch holds other than its shares are refused.
pub async fn second_round_on_sale_is_a_data_fault(fixture: &Fixture) {
    let product = raffle(fixture).await;
    open(fixture, &round(fixture, product.id, 1, None)).await.expect("a round");
    fixture.assert_refused(async |tx| tx.rounds_open(&[round(fixture, product.id, 2, None)]).await).await;
    fixture
        .assert_refused(async |tx| tx.rounds_open(&[round(fixture, product.id, 1, Some(FULL))]).await)
        .await;
}

/// A round that is full has its draw dated, and the next may be opened in the same transaction.
pub async fn full_round_is_followed_in_the_same_transaction(fixture: &Fixture) {
    let product = raffle(fixture).await;
    let first = round(fixture, product.id, 1, None);
    open(fixture, &first).await.expect("a round");
    let order = fixture.place_paid("ann", &[(&product, SHARES)]).await;
    let (second, third) = (round(fixture, product.id, 2, Some(FULL)), round(fixture, product.id, 3, None));
    let at = fixture
        .write(async |tx| {
            tx.rounds_turn(&[(first.round.id, FULL)]).await?;
            tx.rounds_open(&[second.clone(), third.clone()]).await?;
            tx.spans_append(&[issue_span(first.round.id, 0, SHARES, SHARES, order.id)]).await?;
            tx.batches_advance(&[(first.round.id, SHARES)]).await?;
            Ok(tx.now())
        })
        .await;
    let rounds = fixture.read(async |tx| tx.rounds_list(Some(product.id), None, 9).await).await;
    let states: Vec<_> = rounds.iter().map(|r| (r.number, r.state, r.sold)).collect();
    assert_eq!(states, [(3, RoundState::Open, 0), (2, RoundState::Full, 0), (1, RoundState::Full, SHARES)]);
    let full = &rounds[2];
    assert_eq!((full.full_at, full.draw_at), (Some(at), Some(at.plus(Duration::from_mins(10)))));
    assert_eq!((full.digest, full.commitment, full.opened_at < at), ([9; 32], [7; 32], false));
    // Pages go on after the round that they ended with.
    let page = async |before| fixture.read(async |tx| tx.rounds_list(None, before, 2).await).await;
    let first_page = page(None).await;
    let rest = page(Some(first_page[1].id)).await;
    assert_eq!(rest.iter().map(|r| r.id).collect::<Vec<_>>(), [first.round.id]);
    let due = async |at| fixture.read(async |tx| tx.rounds_due(at, None, 9).await).await;
    assert!(due(at).await.is_empty());
    assert_eq!(due(at.plus(Duration::from_mins(10))).await.len(), 2);
    let shares = fixture.read(async |tx| tx.rounds_shares(first.round.id).await).await;
    assert_eq!((shares.len(), shares[0].order, shares[0].start, shares[0].upto), (1, order.id, 0, SHARES));
}

/// Rounds come in pages by the end of their countdown; those that wait for a beacon's value do not, unless nobody can win.
pub async fn rounds_that_wait_for_a_beacon_are_not_due(fixture: &Fixture) {
    let product = raffle(fixture).await;
    let mut rounds = [1, 2, 3].map(|number| round(fixture, product.id, number, Some(FULL)));
    for open in &mut rounds[..2] {
        open.round.entropy_rule = BEACON;
    }
    let [waits, nobodys, plain] = rounds.each_ref().map(|open| open.round.id);
    let first = fixture.place_paid("ann", &[(&product, SHARES)]).await.id;
    let second = fixture.place_paid("bob", &[(&product, SHARES)]).await.id;
    let at = fixture
        .write(async |tx| {
            tx.rounds_open(&rounds).await?;
            let spans = [(waits, first), (plain, second)].map(|(id, o)| issue_span(id, 0, SHARES, SHARES, o));
            tx.spans_append(&spans).await?;
            Ok(tx.now().plus(Duration::from_mins(10)))
        })
        .await;
    let due = async |after, limit| fixture.read(async |tx| tx.rounds_due(at, after, limit).await).await;
    let [before, behind] = [nobodys.min(plain), nobodys.max(plain)];
    assert_eq!(due(None, 9).await, [before, behind]);
    assert_eq!((due(None, 1).await, due(Some(before), 1).await), (vec![before], vec![behind]));
    assert!(due(Some(behind), 9).await.is_empty());
    assert!(fixture.write(async |tx| tx.rounds_entropy(waits, &[5; 40]).await).await);
    assert_eq!(due(None, 9).await.len(), 3);
}

/// A draw is written once, of a full round only, and what was promised does not change.
pub async fn draw_is_written_once(fixture: &Fixture) {
    let product = raffle(fixture).await;
    let first = round(fixture, product.id, 1, None);
    open(fixture, &first).await.expect("a round");
    let id = first.round.id;
    let order = fixture.place_paid("ann", &[(&product, SHARES)]).await;
    let drawn = |position| Drawn { at: fixture.now(), position, number: 100 + position };
    let draw =
        async |position| fixture.write(async |tx| tx.rounds_drawn(&[(id, drawn(position))]).await).await;
    assert!(draw(1).await.is_empty(), "a round that is sold was drawn");
    fixture
        .write(async |tx| {
            tx.rounds_turn(&[(id, FULL)]).await?;
            tx.spans_append(&[issue_span(id, 0, SHARES, SHARES, order.id)]).await?;
            tx.batches_advance(&[(id, SHARES)]).await
        })
        .await;
    let undrawn = async || fixture.read(async |tx| tx.orders_undrawn(&[order.id]).await).await;
    assert_eq!(undrawn().await, [order.id]);
    assert!(fixture.write(async |tx| tx.rounds_entropy(id, &[5; 40]).await).await);
    assert!(!fixture.write(async |tx| tx.rounds_entropy(id, &[6; 40]).await).await);
    fixture
        .assert_refused(async |tx| tx.rounds_turn(&[(id, Turned { digest: [1; 32], full: true })]).await)
        .await;
    fixture.assert_refused(async |tx| tx.rounds_drawn(&[(id, drawn(SHARES))]).await).await;
    assert_eq!(draw(4).await, [id]);
    assert!(draw(5).await.is_empty(), "a second winner");
    assert!(!fixture.write(async |tx| tx.rounds_cancel(id).await).await, "a drawn round was called off");
    assert!(undrawn().await.is_empty());
    let told = fixture.read(async |tx| tx.rounds_read(&[id]).await).await.remove(0);
    assert_eq!((told.drawn, told.entropy), (Some(drawn(4)), Some(vec![5; 40])));
}

/// Where no round follows, orders claim, and those that are pending do from that moment on.
pub async fn claims_begin_with_the_last_round(fixture: &Fixture) {
    let product = raffle(fixture).await;
    let claims =
        async |claims| fixture.write(async |tx| tx.stock_claims(&[(product.id, claims)]).await).await;
    let stock = async || fixture.read(async |tx| tx.stock_read(&[product.id]).await).await[0].1;
    claims(false).await;
    fixture.place("ann", &[(&product, 4)]).await;
    assert_eq!((stock().await.claimed, stock().await.endless), (0, true));
    claims(true).await;
    assert_eq!((stock().await.claimed, stock().await.endless), (4, false));
    claims(true).await;
    assert_eq!(stock().await.claimed, 4);
    claims(false).await;
    assert_eq!(stock().await.claimed, 0);
}
