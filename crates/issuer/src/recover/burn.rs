//! What may have been given out of the batches that a copy knows.

use std::collections::BTreeMap;

use tessera_model::batch::OpenBatch;
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::product::Product;
use tessera_model::span::{Span, SpanKind};
use tessera_store::ledger::SpanCause;
use tessera_store::rounds::StoredRaffle;
use tessera_store::{Result, Tx};

use super::{BURN, MARGIN, Recover, Recovered, Told};
use crate::copies::Seen;

/// How far each batch was given out, by whoever has seen it furthest.
pub(super) fn furthest(seen: &[Seen]) -> BTreeMap<BatchId, i64> {
    let mut furthest = BTreeMap::new();
    for (batch, upto) in seen.iter().flat_map(|seen| seen.marks().iter().copied()) {
        let known = furthest.entry(batch).or_insert(upto);
        *known = upto.max(*known);
    }
    furthest
}

/// Burns positions of every open batch and of every round on sale; returns raffles with the rounds as they are then.
pub(super) async fn batches(
    tx: &mut dyn Tx,
    products: &[Product],
    (wish, told): (&Recover, Told),
    marks: &BTreeMap<BatchId, i64>,
    done: &mut Recovered,
) -> Result<Vec<StoredRaffle>> {
    let ids: Vec<ProductId> = products.iter().map(|product| product.id).collect();
    let mut batches = tx.batches_open_of(&ids).await?;
    let mut raffles = tx.raffles_read(&ids).await?;
    let rounds = raffles.iter_mut().filter_map(|raffle| raffle.round.as_mut()).map(|round| &mut round.batch);
    let mut spans = vec![];
    for batch in batches.iter_mut().chain(rounds) {
        let from = spans.len();
        let mark = marks.get(&batch.id).copied();
        batch.burn(end(batch, mark, wish.burn, told), &mut spans);
        let burned = spans.iter().skip(from).filter(|span| span.kind == SpanKind::Burn);
        let count: i64 = burned.map(|span| span.upto - span.start).sum();
        if count > 0 {
            done.burned.push((batch.id, count));
        }
    }
    write(tx, &spans, wish).await?;
    Ok(raffles)
}

/// Where a batch is burned to: what was seen and a margin, or as much as was said, whatever is more.
fn end(batch: &OpenBatch, mark: Option<i64>, burn: Option<i64>, told: Told) -> i64 {
    match (burn, mark) {
        (Some(burn), mark) => batch.after(burn).max(mark.unwrap_or(0)),
        (None, Some(mark)) if told.is_ahead => batch.after(MARGIN).max(mark.saturating_add(MARGIN)),
        (None, None) if told.is_ahead && told.is_all => batch.after(MARGIN),
        (None, mark) => batch.after(BURN).max(mark.unwrap_or(0)),
    }
}

async fn write(tx: &mut dyn Tx, spans: &[Span], wish: &Recover) -> Result<()> {
    if spans.is_empty() {
        return Ok(());
    }
    tx.spans_append(spans).await?;
    let burned = spans.iter().filter(|span| span.kind == SpanKind::Burn);
    tx.spans_explain(&burned.map(|span| cause(span.batch, span.upto, wish)).collect::<Vec<_>>()).await?;
    let mut moved = BTreeMap::new();
    for span in spans {
        moved.insert(span.batch, span.upto);
    }
    tx.batches_advance(&moved.into_iter().collect::<Vec<_>>()).await
}

/// Why a span is there.
pub(super) fn cause(batch: BatchId, upto: i64, wish: &Recover) -> SpanCause {
    SpanCause { batch, upto, actor: wish.actor.clone(), reason: wish.reason.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::time::Timestamp;

    #[test]
    fn a_batch_is_burned_to_its_mark_and_a_margin_or_by_what_is_said() {
        let at = Timestamp::from_micros(1);
        let (id, product) = (BatchId::new(at, [1; 10]), ProductId::new(at, [2; 10]));
        let batch = OpenBatch { id, product, size: 9_000, issued: 100, voided: vec![103] };
        let told = |is_ahead, is_all| Told { is_ahead, is_all };
        for (mark, burn, told, expected) in [
            (Some(200), None, told(true, true), 200 + MARGIN),
            (Some(200), None, told(true, false), 200 + MARGIN),
            (Some(90), None, told(true, true), 101 + MARGIN),
            (None, None, told(true, true), 101 + MARGIN),
            (None, None, told(true, false), 101 + BURN),
            (None, None, told(false, true), 101 + BURN),
            (Some(5_000), None, told(false, true), 5_000),
            (Some(200), Some(5), told(true, true), 200),
            (Some(200), Some(500), told(true, true), 601),
            (None, Some(0), told(false, true), 100),
        ] {
            assert_eq!(end(&batch, mark, burn, told), expected, "{mark:?} {burn:?}");
        }
    }
}
