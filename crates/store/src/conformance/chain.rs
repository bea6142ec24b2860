//! The chain: no code is given twice, none is skipped, none is made up, whatever wrong code asks for.

use tessera_model::ids::{BatchId, OrderId};
use tessera_model::order::Order;
use tessera_model::product::Product;
use tessera_model::span::{Owner, Span, SpanKind};

use super::Fixture;
use super::shop::{issue_span, void_span};
use crate::batches::IssuedSpan;

const SIZE: i64 = 10;

/// A batch of ten codes, and an order of three.
async fn stage(fixture: &Fixture) -> (Product, BatchId, Order) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, SIZE).await;
    let order = fixture.place_paid("ann", &[(&product, 3)]).await;
    (product, batch, order)
}

/// Appends spans and moves `issued` to the end of the last.
async fn append(fixture: &Fixture, spans: &[Span]) -> crate::Result<()> {
    let end = spans.last().map(|s| (s.batch, s.upto)).expect("a span");
    fixture
        .attempt(async |tx| {
            tx.spans_append(spans).await?;
            tx.batches_advance(&[end]).await
        })
        .await
}

async fn assert_refused(fixture: &Fixture, spans: &[Span]) {
    let appended = append(fixture, spans).await;
    assert!(matches!(appended, Err(crate::StoreError::Data(_))), "{appended:?} for {spans:?}");
}

/// Spans are told by order, line and part, with what is needed to read their codes.
pub async fn issued_spans_are_told_by_order_line_and_part(fixture: &Fixture) {
    let (product, batch, ann) = stage(fixture).await;
    let bob = fixture.place_paid("bob", &[(&product, 2)]).await;
    let part = |order: &Order, part, start, upto| Span {
        owner: Some(Owner { order: order.id, line: 1, part }),
        ..issue_span(batch, start, upto, SIZE, order.id)
    };
    let spans = [part(&bob, 0, 0, 2), part(&ann, 0, 2, 4), void_span(batch, 4, 5, SIZE), part(&ann, 1, 5, 6)];
    append(fixture, &spans).await.expect("a chain");
    let told = fixture.read(async |tx| tx.spans_of(&[bob.id, ann.id, fixture.id(OrderId::new)]).await).await;
    let expected = |span: Span| (span.owner, span.start, span.upto);
    let found: Vec<_> = told.iter().map(|s| (Some(s.owner), s.start, s.upto)).collect();
    assert_eq!(found, [spans[1], spans[3], spans[0]].map(expected));
    assert!(told.iter().all(|s: &IssuedSpan| s.batch.id == batch && s.batch.size == SIZE));
}

/// What is spanned on overlaps nothing.
pub async fn overlap_is_a_data_fault(fixture: &Fixture) {
    let (product, batch, ann) = stage(fixture).await;
    append(fixture, &[issue_span(batch, 0, 3, SIZE, ann.id)]).await.expect("a chain");
    let bob = fixture.place_paid("bob", &[(&product, 2)]).await.id;
    for (start, upto) in [(0, 3), (0, 2), (0, 5), (1, 2), (1, 3), (2, 4)] {
        assert_refused(fixture, &[issue_span(batch, start, upto, SIZE, bob)]).await;
    }
    append(fixture, &[issue_span(batch, 3, 5, SIZE, bob)]).await.expect("what comes next");
}

/// Two spans of one set overlap as little as those of two.
pub async fn overlap_within_one_set_is_a_data_fault(fixture: &Fixture) {
    let (product, batch, ann) = stage(fixture).await;
    let bob = fixture.place_paid("bob", &[(&product, 2)]).await.id;
    let first = issue_span(batch, 0, 3, SIZE, ann.id);
    assert_refused(fixture, &[first, issue_span(batch, 0, 2, SIZE, bob)]).await;
    assert_refused(fixture, &[first, issue_span(batch, 2, 4, SIZE, bob)]).await;
}

/// A span begins where another ends.
pub async fn gap_is_a_data_fault(fixture: &Fixture) {
    let (product, batch, ann) = stage(fixture).await;
    assert_refused(fixture, &[issue_span(batch, 1, 3, SIZE, ann.id)]).await;
    append(fixture, &[issue_span(batch, 0, 3, SIZE, ann.id)]).await.expect("a chain");
    let bob = fixture.place_paid("bob", &[(&product, 2)]).await.id;
    assert_refused(fixture, &[issue_span(batch, 4, 6, SIZE, bob)]).await;
}

/// No span is empty, backward, before the first code or beyond the last.
pub async fn span_outside_its_batch_is_a_data_fault(fixture: &Fixture) {
    let (_, batch, ann) = stage(fixture).await;
    for (start, upto) in [(0, 0), (0, -1), (-1, 2), (-2, 0), (0, SIZE + 1)] {
        assert_refused(fixture, &[issue_span(batch, start, upto, SIZE, ann.id)]).await;
    }
    assert_refused(fixture, &[issue_span(batch, 0, SIZE + 1, SIZE + 1, ann.id)]).await;
    assert_refused(fixture, &[issue_span(batch, 0, 3, SIZE - 1, ann.id)]).await;
    assert_refused(fixture, &[issue_span(fixture.id(BatchId::new), 0, 3, SIZE, ann.id)]).await;
}

/// A part of a line is issued once, from one batch or from several.
pub async fn part_of_a_line_is_issued_once(fixture: &Fixture) {
    let (product, batch, ann) = stage(fixture).await;
    append(fixture, &[issue_span(batch, 0, 3, SIZE, ann.id)]).await.expect("a chain");
    assert_refused(fixture, &[issue_span(batch, 3, 6, SIZE, ann.id)]).await;
    let other = fixture.batch(&product, SIZE).await;
    assert_refused(fixture, &[issue_span(other, 0, 3, SIZE, ann.id)]).await;
}

/// Codes are issued to a line that is there, and to nobody when they are voided.
pub async fn span_belongs_to_whom_its_kind_says(fixture: &Fixture) {
    let (_, batch, ann) = stage(fixture).await;
    let good = issue_span(batch, 0, 3, SIZE, ann.id);
    assert_refused(fixture, &[Span { owner: None, ..good }]).await;
    let owner = |order, line, part| Some(Owner { order, line, part });
    assert_refused(fixture, &[Span { owner: owner(ann.id, 2, 0), ..good }]).await;
    assert_refused(fixture, &[Span { owner: owner(ann.id, 1, -1), ..good }]).await;
    assert_refused(fixture, &[Span { owner: owner(fixture.id(OrderId::new), 1, 0), ..good }]).await;
    for kind in [SpanKind::Void, SpanKind::Burn] {
        assert_refused(fixture, &[Span { kind, ..good }]).await;
    }
    assert_refused(fixture, &[Span { kind: SpanKind::Anchor, owner: None, ..good }]).await;
    append(fixture, &[Span { kind: SpanKind::Burn, owner: None, ..good }]).await.expect("nobody gets it");
}

/// `issued` is where the chain ends: it moves neither without a span nor to another place than its end.
pub async fn batch_moves_only_where_its_chain_ends(fixture: &Fixture) {
    let (product, batch, ann) = stage(fixture).await;
    for upto in [1, SIZE, SIZE + 1, -1] {
        fixture.assert_refused(async |tx| tx.batches_advance(&[(batch, upto)]).await).await;
    }
    append(fixture, &[issue_span(batch, 0, 3, SIZE, ann.id)]).await.expect("a chain");
    fixture.assert_refused(async |tx| tx.batches_advance(&[(batch, 0)]).await).await;
    let bob = fixture.place_paid("bob", &[(&product, 2)]).await.id;
    for upto in [0, 3, 4, 6] {
        let span = issue_span(batch, 3, 5, SIZE, bob);
        fixture
            .assert_refused(async |tx| {
                tx.spans_append(&[span]).await?;
                tx.batches_advance(&[(batch, upto)]).await
            })
            .await;
    }
    let open = fixture.write(async |tx| tx.batches_open_of(&[product.id]).await).await;
    assert_eq!(open[0].issued, 3);
}

/// A batch that is still loading gives nothing.
pub async fn loading_batch_issues_nothing(fixture: &Fixture) {
    let (product, _, ann) = stage(fixture).await;
    let loading = fixture.loading(&product, SIZE).await;
    assert_refused(fixture, &[issue_span(loading, 0, 3, SIZE, ann.id)]).await;
    assert_refused(fixture, &[void_span(loading, 0, 3, SIZE)]).await;
}
