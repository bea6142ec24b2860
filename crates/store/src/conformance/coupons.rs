//! Pools: no index of a format is given out twice.

use tessera_model::coupon::Format;
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::product::{Coupon, Kind, Product};

use super::Fixture;
use super::shop::{void_span, wrapped};
use crate::batches::CodeSource;
use crate::coupons::NewPool;

fn format() -> Format {
    Format::parse("SPRING-XXXX-XXXX").expect("a format")
}

async fn coupon(fixture: &Fixture) -> Product {
    let mut product = fixture.product("spring").await;
    product.rules.kind =
        Kind::Coupon(Coupon { count: 5, format: format(), expires_at: Some(fixture.later(60)) });
    fixture
        .write(async |tx| {
            tx.products_put(std::slice::from_ref(&product)).await?;
            tx.formats_put(&[(format(), wrapped(1))]).await?;
            // The key that is there stays.
            tx.formats_put(&[(format(), wrapped(2))]).await
        })
        .await;
    product
}

fn pool(fixture: &Fixture, product: ProductId, start: i64, size: i64) -> NewPool {
    NewPool {
        id: fixture.id(BatchId::new),
        product,
        format: format(),
        start,
        size,
        key: wrapped(3),
        expires_at: Some(fixture.later(60)),
    }
}

/// Pools follow each other, and an index is found in the one that took it.
pub async fn pools_take_consecutive_indexes(fixture: &Fixture) {
    let product = coupon(fixture).await;
    let (first, second) = (pool(fixture, product.id, 0, 5), pool(fixture, product.id, 5, 3));
    fixture
        .write(async |tx| {
            assert_eq!(tx.formats_lock().await?[0].taken, 0);
            tx.pools_open(&[first.clone(), second.clone()]).await
        })
        .await;
    let stored = fixture.read(async |tx| tx.formats_read().await).await.remove(0);
    assert_eq!((stored.format, stored.key, stored.taken), (format(), wrapped(1), 8));
    let at = async |index| fixture.read(async |tx| tx.pools_at(&[(format(), index)]).await).await.pop();
    for (index, found) in
        [(0, Some((first.id, 0))), (4, Some((first.id, 4))), (5, Some((second.id, 0))), (8, None)]
    {
        assert_eq!(at(index).await.map(|pool| (pool.batch.id, pool.position)), found, "{index}");
    }
    let source = at(5).await.expect("a pool").batch.source;
    assert_eq!(source, CodeSource::Pool { format: format(), key: wrapped(1), start: 5 });
    let open = fixture.write(async |tx| tx.batches_open_of(&[product.id]).await).await;
    assert_eq!(
        open.iter().map(|batch| (batch.id, batch.size)).collect::<Vec<_>>(),
        [(first.id, 5), (second.id, 3)]
    );
    let stocked = fixture.read(async |tx| tx.products_stocked(&[product.id]).await).await;
    assert_eq!(stocked, [product.id]);
}

/// A pool that overlaps another, leaves a gap before it, or has a batch twice is refused.
pub async fn overlapping_pool_is_a_data_fault(fixture: &Fixture) {
    let product = coupon(fixture).await;
    fixture.write(async |tx| tx.pools_open(&[pool(fixture, product.id, 0, 5)]).await).await;
    for start in [0, 3, 4, 6] {
        fixture.assert_refused(async |tx| tx.pools_open(&[pool(fixture, product.id, start, 5)]).await).await;
    }
}

/// What is left of a product's batches is voided, and what was given stays.
pub async fn rest_of_all_batches_is_voided(fixture: &Fixture) {
    let product = coupon(fixture).await;
    let (first, second) = (pool(fixture, product.id, 0, 5), pool(fixture, product.id, 5, 3));
    fixture
        .write(async |tx| {
            tx.pools_open(&[first.clone(), second.clone()]).await?;
            tx.spans_append(&[void_span(first.id, 0, 2, 5)]).await?;
            tx.batches_advance(&[(first.id, 2)]).await
        })
        .await;
    let mut voided = fixture.write(async |tx| tx.batches_void_rest(product.id).await).await;
    voided.sort_unstable_by_key(|(_, upto)| -*upto);
    assert_eq!(voided, [(first.id, 5), (second.id, 3)]);
    let figures = fixture.read(async |tx| tx.stock_figures(Some(&product.rules.sku)).await).await.remove(0);
    assert_eq!((figures.stock.unissued, figures.voided), (0, 8));
}
