//! Batches: loaded in parts, opened whole, used in order, or taken away again.

use std::slice::from_ref;

use tessera_model::batch::OpenBatch;
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::keys::Fingerprint;
use tessera_model::product::{Pick, Product};

use super::Fixture;
use super::shop::void_span;
use crate::batches::{BatchReading, KnownCode, NewCode};

async fn open_of(fixture: &Fixture, products: &[&Product]) -> Vec<OpenBatch> {
    let ids: Vec<ProductId> = products.iter().map(|p| p.id).collect();
    fixture.write(async |tx| tx.batches_open_of(&ids).await).await
}

/// An open batch has its size, and nothing issued or voided.
pub async fn opened_batch_is_on_sale(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let id = fixture.loading(&product, 3).await;
    assert_eq!(open_of(fixture, &[&product]).await, [], "a loading batch is nobody's yet");
    fixture.write(async |tx| tx.batches_open(id, 3).await).await;
    let open = OpenBatch { id, product: product.id, size: 3, issued: 0, voided: vec![] };
    assert_eq!(open_of(fixture, &[&product]).await, [open]);
}

/// The batches of a product are used in the order they were opened; other products' are not among them.
pub async fn batches_are_used_oldest_first(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let late = fixture.loading(&a, 1).await;
    let of_b = fixture.batch(&b, 1).await;
    let early = fixture.batch(&a, 1).await;
    fixture.clock.set(fixture.later(1));
    fixture.write(async |tx| tx.batches_open(late, 1).await).await;
    let ids = |batches: Vec<OpenBatch>| -> Vec<BatchId> { batches.iter().map(|b| b.id).collect() };
    assert_eq!(ids(open_of(fixture, &[&a]).await), [early, late]);
    let both = ids(open_of(fixture, &[&a, &b]).await);
    assert_eq!(both.len(), 3);
    assert!(both.contains(&of_b));
    let of_a: Vec<_> = both.into_iter().filter(|id| *id != of_b).collect();
    assert_eq!(of_a, [early, late]);
}

/// What a batch holds is counted when it opens: no code less, no code more, no gap.
pub async fn batch_opens_only_with_the_codes_it_says(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.loading(&product, 3).await;
    for size in [-1, 0, 2, 4] {
        fixture.assert_refused(async |tx| tx.batches_open(batch, size).await).await;
    }
    let gap = fixture.loading(&product, 2).await;
    fixture.write(async |tx| tx.codes_insert(gap, &[fixture.new_code(3)]).await).await;
    for size in [3, 4] {
        fixture.assert_refused(async |tx| tx.batches_open(gap, size).await).await;
    }
    let empty = fixture.loading(&product, 0).await;
    fixture.assert_refused(async |tx| tx.batches_open(empty, 0).await).await;
    let unknown = fixture.id(BatchId::new);
    fixture.assert_refused(async |tx| tx.batches_open(unknown, 0).await).await;
    assert_eq!(open_of(fixture, &[&product]).await, []);
}

/// A batch opens once.
pub async fn open_batch_cannot_be_opened_again(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 2).await;
    fixture.assert_refused(async |tx| tx.batches_open(batch, 2).await).await;
}

/// Codes go into loading batches only.
pub async fn open_batch_takes_no_more_codes(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 2).await;
    fixture.assert_refused(async |tx| tx.codes_insert(batch, &[fixture.new_code(2)]).await).await;
    let unknown = fixture.id(BatchId::new);
    fixture.assert_refused(async |tx| tx.codes_insert(unknown, &[fixture.new_code(0)]).await).await;
}

/// A batch belongs to a product, and is begun once.
pub async fn impossible_batches_are_data_faults(fixture: &Fixture) {
    let mut batch = fixture.new_batch(&fixture.new_product("unknown"));
    fixture.assert_refused(async |tx| tx.batches_begin(&batch).await).await;
    batch.product = fixture.product("card").await.id;
    fixture.write(async |tx| tx.batches_begin(&batch).await).await;
    fixture.assert_refused(async |tx| tx.batches_begin(&batch).await).await;
}

/// A batch whose last code is given is closed: it is on sale no more.
pub async fn batch_closes_when_its_last_code_is_given(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 5).await;
    let order = fixture.place_paid("ann", &[(&product, 4)]).await;
    fixture.issue(&order, batch, 0, 5).await;
    let open = OpenBatch { id: batch, product: product.id, size: 5, issued: 4, voided: vec![] };
    assert_eq!(open_of(fixture, &[&product]).await, [open]);
    let order = fixture.place_paid("bob", &[(&product, 1)]).await;
    fixture.issue(&order, batch, 4, 5).await;
    assert_eq!(open_of(fixture, &[&product]).await, []);
}

/// A code is in the store once, in whatever batch and product; a position holds one code.
pub async fn code_is_stored_once(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let other = fixture.product("other").await;
    let code = fixture.new_code(0);
    let (first, second) = (fixture.loading(&product, 0).await, fixture.loading(&other, 0).await);
    fixture.write(async |tx| tx.codes_insert(first, from_ref(&code)).await).await;
    fixture.assert_refused(async |tx| tx.codes_insert(second, from_ref(&code)).await).await;
    fixture.assert_refused(async |tx| tx.codes_insert(first, &[fixture.new_code(0)]).await).await;
    fixture.assert_refused(async |tx| tx.codes_insert(first, &[fixture.new_code(-1)]).await).await;
}

/// A known code is found by its fingerprint, with all that is needed to read it and whether it was given.
pub async fn known_codes_are_found(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut batch = fixture.new_batch(&product);
    batch.pick = Pick::Random;
    let codes: Vec<NewCode> = (0..3).map(|position| fixture.new_code(position)).collect();
    fixture
        .write(async |tx| {
            tx.batches_begin(&batch).await?;
            tx.codes_insert(batch.id, &codes).await
        })
        .await;
    let asked = [codes[2].fingerprint, Fingerprint::from_bytes(fixture.bytes()), codes[0].fingerprint];
    let known = async || -> Vec<KnownCode> {
        let mut known = fixture.read(async |tx| tx.codes_known(&asked).await).await;
        known.sort_by_key(|k| k.position);
        known
    };
    let expected = |size, issued| {
        let reading = BatchReading {
            id: batch.id,
            size,
            pick: batch.pick,
            key: batch.key.clone(),
            source: crate::batches::CodeSource::Stored,
        };
        [&codes[0], &codes[2]].map(|code| KnownCode {
            fingerprint: code.fingerprint,
            sku: product.rules.sku.clone(),
            position: code.position,
            issued,
            batch: reading.clone(),
        })
    };
    assert_eq!(known().await, expected(0, None), "in a loading batch");
    assert_eq!(fixture.read(async |tx| tx.batches_issued(&[batch.id], 9).await).await, [], "it is loading");
    fixture.write(async |tx| tx.batches_open(batch.id, 3).await).await;
    assert_eq!(known().await, expected(3, Some(0)));
    fixture
        .write(async |tx| {
            tx.spans_append(&[void_span(batch.id, 0, 2, 3)]).await?;
            tx.batches_advance(&[(batch.id, 2)]).await
        })
        .await;
    assert_eq!(known().await, expected(3, Some(2)));
    let missing = BatchId::new(fixture.now(), [9; 10]);
    let issued =
        async |ids: &[BatchId], limit| fixture.read(async |tx| tx.batches_issued(ids, limit).await).await;
    assert_eq!(issued(&[batch.id, missing], 0).await, [(batch.id, 2)], "how far it is given out");
    assert_eq!(
        (issued(&[batch.id], 9).await, issued(&[], 9).await),
        (vec![(batch.id, 2)], vec![(batch.id, 2)])
    );
    assert_eq!(issued(&[], 0).await, []);
}

/// Codes are read by ranges, half-open, each batch's own.
pub async fn codes_are_read_by_range(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batches = [fixture.new_batch(&product), fixture.new_batch(&product)];
    let codes: Vec<NewCode> = (0..5).map(|position| fixture.new_code(position)).collect();
    let others: Vec<NewCode> = (0..5).map(|position| fixture.new_code(position)).collect();
    fixture
        .write(async |tx| {
            tx.batches_begin(&batches[0]).await?;
            tx.batches_begin(&batches[1]).await?;
            tx.codes_insert(batches[0].id, &codes).await?;
            tx.codes_insert(batches[1].id, &others).await
        })
        .await;
    let ranges = [(batches[0].id, 1, 3), (batches[1].id, 4, 9), (batches[0].id, 3, 3)];
    let mut read = fixture.read(async |tx| tx.codes_read(&ranges).await).await;
    read.sort();
    let expected = [
        (batches[0].id, 1, codes[1].sealed.clone()),
        (batches[0].id, 2, codes[2].sealed.clone()),
        (batches[1].id, 4, others[4].sealed.clone()),
    ];
    assert_eq!(read, expected);
}

/// Loading batches are known, the oldest first, until they open or go.
pub async fn loading_batches_are_listed_oldest_first(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut batches = vec![];
    for _ in 0..3 {
        batches.push(fixture.loading(&product, 1).await);
        fixture.clock.set(fixture.later(1));
    }
    fixture.write(async |tx| tx.batches_open(batches[1], 1).await).await;
    let loading = fixture.read(async |tx| tx.batches_loading().await).await;
    assert_eq!(loading, [batches[0], batches[2]]);
}

/// A loading batch goes in bits, and its codes may come again.
pub async fn loading_batch_is_discarded_in_bits(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.loading(&product, 4).await;
    let kept = fixture.new_code(4);
    fixture.write(async |tx| tx.codes_insert(batch, from_ref(&kept)).await).await;
    let mut calls = 0;
    while !fixture.write(async |tx| tx.batches_discard(batch, 2).await).await {
        calls += 1;
        let left = fixture.read(async |tx| tx.codes_read(&[(batch, 0, 9)]).await).await.len();
        assert_eq!(left, 5 - 2 * calls, "so many at a time");
    }
    assert_eq!(calls, 2);
    assert_eq!(fixture.read(async |tx| tx.batches_loading().await).await, []);
    assert_eq!(fixture.read(async |tx| tx.codes_known(&[kept.fingerprint]).await).await, []);
    let next = fixture.loading(&product, 0).await;
    fixture.write(async |tx| tx.codes_insert(next, &[NewCode { position: 0, ..kept }]).await).await;
}

/// Discarding takes nothing from a batch on sale, and has nothing to do with one that is gone.
pub async fn discarding_ends_where_nothing_is_loading(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let batch = fixture.batch(&product, 2).await;
    assert!(fixture.write(async |tx| tx.batches_discard(batch, 9).await).await);
    assert_eq!(fixture.read(async |tx| tx.codes_read(&[(batch, 0, 9)]).await).await.len(), 2);
    assert_eq!(open_of(fixture, &[&product]).await.len(), 1);
    let unknown = fixture.id(BatchId::new);
    assert!(fixture.write(async |tx| tx.batches_discard(unknown, 9).await).await);
}
