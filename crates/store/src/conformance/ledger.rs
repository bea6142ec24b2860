//! The ledger: where each code of a batch went, when, by whom and why.

use std::slice::from_ref;

use tessera_model::batch::BatchState;
use tessera_model::ids::BatchId;
use tessera_model::order::OrderStatus;
use tessera_model::product::Product;
use tessera_model::span::{Owner, Span, SpanKind};

use super::Fixture;
use super::shop::void_span;
use crate::ledger::{
    BatchRecord, Covered, Movement, MovementFilter, MovementKind, NewVoid, SpanCause, VoidedPlace,
};

fn void_of(batch: BatchId, place: i64, part: Option<i32>) -> NewVoid {
    NewVoid { batch, place, actor: "cli".to_owned(), reason: "it is used".to_owned(), part }
}

async fn void(fixture: &Fixture, voids: &[NewVoid]) -> Vec<(BatchId, i64)> {
    fixture.write(async |tx| tx.places_void(voids).await).await
}

/// Voids `[start, upto)` by a span, with a cause.
async fn void_by_span(fixture: &Fixture, batch: BatchId, start: i64, upto: i64, size: i64) {
    let cause = SpanCause { batch, upto, actor: "cli".to_owned(), reason: Some("taken back".to_owned()) };
    fixture
        .write(async |tx| {
            tx.spans_append(&[void_span(batch, start, upto, size)]).await?;
            tx.batches_advance(&[(batch, upto)]).await?;
            tx.spans_explain(from_ref(&cause)).await
        })
        .await;
}

async fn batch_of(fixture: &Fixture, id: BatchId) -> BatchRecord {
    fixture.read(async |tx| tx.batches_read(&[id]).await).await.remove(0)
}

fn counts(batch: &BatchRecord) -> (i64, i64, i64) {
    (batch.unissued, batch.issued, batch.voided)
}

async fn moved(fixture: &Fixture, filter: &MovementFilter, limit: i64) -> Vec<Movement> {
    fixture.read(async |tx| tx.movements_list(filter, limit).await).await
}

/// What, how many, where it ends, and of whose order.
fn told(movements: &[Movement]) -> Vec<(MovementKind, i64, i64, bool)> {
    movements.iter().map(|m| (m.what, m.quantity, m.upto, m.owner.is_some())).collect()
}

/// A batch of ten of which three were sold, one of them voided since, two were stepped around, and the rest voided
/// with one place in it that was void before.
async fn eventful(fixture: &Fixture, product: &Product) -> BatchId {
    let batch = fixture.batch(product, 10).await;
    let order = fixture.place_paid("ann", &[(product, 3)]).await;
    fixture.issue(&order, batch, 0, 10).await;
    void(fixture, &[void_of(batch, 1, None), void_of(batch, 3, None), void_of(batch, 4, None)]).await;
    fixture
        .write(async |tx| {
            tx.spans_append(&[void_span(batch, 3, 5, 10)]).await?;
            tx.batches_advance(&[(batch, 5)]).await
        })
        .await;
    void(fixture, &[void_of(batch, 8, None)]).await;
    fixture.clock.set(fixture.later(60));
    void_by_span(fixture, batch, 5, 10, 10).await;
    batch
}

/// Each code of a batch is in exactly one of unissued, issued and voided, whenever it was voided.
pub async fn batches_tell_where_their_codes_are(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let loading = fixture.loading(&product, 2).await;
    let batch = fixture.batch(&product, 5).await;
    assert_eq!(counts(&batch_of(fixture, batch).await), (5, 0, 0));
    let order = fixture.place_paid("ann", &[(&product, 2)]).await;
    fixture.issue(&order, batch, 0, 5).await;
    void(fixture, &[void_of(batch, 0, None), void_of(batch, 3, None)]).await;
    assert_eq!(counts(&batch_of(fixture, batch).await), (2, 1, 2));
    let figures = fixture.read(async |tx| tx.stock_figures(None).await).await.remove(0);
    assert_eq!((figures.stock.unissued, figures.issued, figures.voided), (2, 1, 2));
    let eventful = eventful(fixture, &product).await;
    let record = batch_of(fixture, eventful).await;
    assert_eq!((record.state, counts(&record)), (BatchState::Closed, (0, 2, 8)));
    let listed = fixture.read(async |tx| tx.batches_list(Some(product.id), None, 2).await).await;
    let ids: Vec<BatchId> = listed.iter().map(|b| b.id).collect();
    assert_eq!(ids, [eventful, batch]);
    let older = fixture.read(async |tx| tx.batches_list(None, Some(batch), 9).await).await;
    assert_eq!((older[0].id, older[0].state, counts(&older[0])), (loading, BatchState::Loading, (0, 0, 0)));
}

/// Import, issue, voids: each code is told of once where it went, last of all where it came from.
pub async fn movements_tell_of_each_code(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = eventful(fixture, &product).await;
    let filter = MovementFilter { batch: Some(batch), ..MovementFilter::default() };
    let movements = moved(fixture, &filter, 100).await;
    let expected = [
        (MovementKind::Void, 4, 10, false),
        (MovementKind::Void, 1, 9, false),
        (MovementKind::Void, 1, 5, false),
        (MovementKind::Void, 1, 4, false),
        (MovementKind::Issue, 3, 3, true),
        (MovementKind::Void, 1, 2, true),
        (MovementKind::Import, 10, 0, false),
    ];
    assert_eq!(told(&movements), expected);
    let last = &movements[0];
    let said = (last.actor.as_deref(), last.reason.as_deref(), last.at);
    assert_eq!(said, (Some("cli"), Some("taken back"), Some(fixture.now())));
    assert!(movements.iter().all(|m| m.at.is_some() && m.sku == product.rules.sku));
}

/// Pages of any size hold together what whole lists do; each part of the filter is held to.
pub async fn movements_are_listed_in_pages_by_filter(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let first = eventful(fixture, &a).await;
    let second = eventful(fixture, &b).await;
    let all = moved(fixture, &MovementFilter::default(), 100).await;
    assert_eq!((all.len(), all[0].batch, all[13].batch), (14, second, first));
    for limit in 1..=15 {
        let (mut paged, mut filter) = (vec![], MovementFilter::default());
        loop {
            let page = moved(fixture, &filter, limit).await;
            let Some(last) = page.last() else { break };
            filter.before = Some((last.batch, last.upto));
            paged.extend(page);
        }
        assert_eq!(paged, all, "pages of {limit}");
    }
    let of_a =
        moved(fixture, &MovementFilter { product: Some(a.id), ..MovementFilter::default() }, 100).await;
    assert_eq!(of_a, all[7..]);
    let order = all[4].owner.map(|owner| owner.order);
    let of_order = moved(fixture, &MovementFilter { order, ..MovementFilter::default() }, 100).await;
    assert_eq!(told(&of_order), [(MovementKind::Issue, 3, 3, true), (MovementKind::Void, 1, 2, true)]);
    let neither = MovementFilter { order, batch: Some(first), ..MovementFilter::default() };
    assert_eq!(moved(fixture, &neither, 100).await, []);
}

/// A place is covered by one span, or by none above `issued`.
pub async fn places_tell_what_covers_them(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 9).await;
    let order = fixture.place_paid("ann", &[(&product, 3)]).await;
    fixture.issue(&order, batch, 0, 9).await;
    void_by_span(fixture, batch, 3, 5, 9).await;
    let asked: Vec<(BatchId, i64)> = [0, 2, 3, 4, 5].map(|place| (batch, place)).to_vec();
    let mut covered = fixture.read(async |tx| tx.spans_at(&asked).await).await;
    covered.sort_by_key(|c| c.place);
    let owner = Some(Owner { order: order.id, line: 1, part: 0 });
    let cover = |place, kind, owner| Covered { batch, place, kind, owner };
    let expected = [
        cover(0, SpanKind::Issue, owner),
        cover(2, SpanKind::Issue, owner),
        cover(3, SpanKind::Void, None),
        cover(4, SpanKind::Void, None),
    ];
    assert_eq!(covered, expected);
}

/// A place is voided once; what stands in its place is noted once, also when it was voided before.
pub async fn place_is_voided_and_replaced_once(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 5).await;
    let order = fixture.place_paid("ann", &[(&product, 2)]).await;
    fixture.issue(&order, batch, 0, 5).await;
    assert_eq!(void(fixture, &[void_of(batch, 0, None)]).await, [(batch, 0)]);
    assert_eq!(void(fixture, &[void_of(batch, 0, None)]).await, []);
    assert_eq!(void(fixture, &[void_of(batch, 0, Some(1)), void_of(batch, 1, Some(1))]).await.len(), 2);
    assert_eq!(void(fixture, &[void_of(batch, 0, Some(2))]).await, []);
    let asked = [(batch, 0), (batch, 1), (batch, 2)];
    let mut voided = fixture.read(async |tx| tx.places_voided(&asked).await).await;
    voided.sort_by_key(|v| v.place);
    let place = |place, part| VoidedPlace { batch, place, part };
    assert_eq!(voided, [place(0, Some(1)), place(1, Some(1))]);
    let spans = fixture.read(async |tx| tx.spans_of(&[order.id]).await).await;
    assert_eq!((spans[0].voided.as_slice(), spans[0].replaced.as_slice()), (&[0, 1][..], &[0, 1][..]));
    fixture
        .assert_refused(async |tx| tx.places_void(&[void_of(fixture.id(BatchId::new), 0, None)]).await)
        .await;
}

/// A span's cause is that of a span, and is said once.
pub async fn cause_is_said_once_and_of_a_span(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 5).await;
    void_by_span(fixture, batch, 0, 2, 5).await;
    let cause = |upto| SpanCause { batch, upto, actor: "cli".to_owned(), reason: None };
    for upto in [1, 2, 3] {
        fixture.assert_refused(async |tx| tx.spans_explain(&[cause(upto)]).await).await;
    }
    fixture.write(async |tx| tx.spans_explain(&[cause(0)]).await).await;
}

/// Whoever claims a product waits in the order of their payments, the unpaid behind them.
pub async fn claimants_come_in_their_turn(fixture: &Fixture) {
    let (card, other) = (fixture.product("card").await, fixture.product("other").await);
    let unpaid = fixture.place("ann", &[(&card, 1)]).await;
    let late = fixture.place_paid("bob", &[(&card, 2), (&other, 1)]).await;
    fixture.clock.set(fixture.later(1));
    let waiting = fixture.place_paid("cid", &[(&other, 9), (&card, 3)]).await;
    fixture.backorder(&waiting, &[&other]).await;
    let batch = fixture.batch(&card, 4).await;
    let done = fixture.place_paid("dan", &[(&card, 4)]).await;
    fixture.issue(&done, batch, 0, 4).await;
    let claimants = fixture.read(async |tx| tx.claimants_of(card.id, 9).await).await;
    let told: Vec<_> = claimants.iter().map(|c| (c.order, c.status, c.quantity)).collect();
    let expected = [
        (late.id, OrderStatus::Paid, 2),
        (waiting.id, OrderStatus::Backordered, 3),
        (unpaid.id, OrderStatus::AwaitingPayment, 1),
    ];
    assert_eq!(told, expected);
    assert_eq!(fixture.read(async |tx| tx.claimants_of(card.id, 1).await).await.len(), 1);
}

/// A replacement belongs to a line, behind its other parts.
pub async fn replacement_is_a_part_of_its_line(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 5).await;
    let order = fixture.place_paid("ann", &[(&product, 2)]).await;
    fixture.issue(&order, batch, 0, 5).await;
    let span = |part| {
        let owner = Some(Owner { order: order.id, line: 1, part });
        Span { batch, start: 2, upto: 3, size: 5, kind: SpanKind::Replacement, owner }
    };
    fixture.assert_refused(async |tx| tx.spans_append(&[span(0)]).await).await;
    fixture
        .write(async |tx| {
            tx.spans_append(&[span(1)]).await?;
            tx.batches_advance(&[(batch, 3)]).await?;
            tx.places_void(&[void_of(batch, 1, Some(1))]).await
        })
        .await;
    assert_eq!(counts(&batch_of(fixture, batch).await), (2, 2, 1));
    let filter = MovementFilter { order: Some(order.id), ..MovementFilter::default() };
    let kinds: Vec<_> = moved(fixture, &filter, 9).await.iter().map(|m| m.what).collect();
    assert_eq!(kinds, [MovementKind::Replacement, MovementKind::Void, MovementKind::Issue]);
    let checks = fixture.read(async |tx| tx.reconcile().await).await;
    let off: Vec<_> = checks.iter().flat_map(|check| &check.faults).collect();
    assert!(off.is_empty(), "{off:?}");
}

async fn faults(fixture: &Fixture) -> Vec<String> {
    let checks = fixture.read(async |tx| tx.reconcile().await).await;
    checks.into_iter().flat_map(|check| check.faults).map(|fault| fault.table).collect()
}

/// A replacement that stands for nothing, and a code in whose place nothing stands, are off.
pub async fn replacement_that_does_not_match_is_found(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 6).await;
    let order = fixture.place_paid("ann", &[(&product, 3)]).await;
    fixture.issue(&order, batch, 0, 6).await;
    void(fixture, &[void_of(batch, 0, Some(1))]).await;
    assert_eq!(faults(fixture).await, ["voided_position"]);
    let owner = Some(Owner { order: order.id, line: 1, part: 1 });
    let span = Span { batch, start: 3, upto: 5, size: 6, kind: SpanKind::Replacement, owner };
    fixture
        .write(async |tx| {
            tx.spans_append(&[span]).await?;
            tx.batches_advance(&[(batch, 5)]).await
        })
        .await;
    assert_eq!(faults(fixture).await, ["span"]);
    void(fixture, &[void_of(batch, 2, Some(1))]).await;
    assert_eq!(faults(fixture).await, [""; 0]);
}
