//! Stock: what is claimed, what is on the shelf, what operators see.

use tessera_model::ids::ProductId;
use tessera_model::order::OrderState;
use tessera_model::product::{Product, Stock};

use super::Fixture;
use super::shop::{sku, void_span};
use crate::products::StockFigures;

async fn stock_of(fixture: &Fixture, product: &Product) -> Stock {
    let stock = fixture.read(async |tx| tx.stock_read(&[product.id]).await).await;
    assert_eq!(stock.len(), 1);
    assert_eq!(stock[0].0, product.id);
    stock[0].1
}

/// Claims move by what is said, each product's own.
pub async fn claims_add_up(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    fixture
        .write(async |tx| {
            tx.stock_lock(&[a.id, b.id]).await?;
            tx.stock_move(&[(a.id, 5), (b.id, 7)]).await?;
            tx.stock_move(&[(a.id, -2)]).await
        })
        .await;
    assert_eq!(stock_of(fixture, &a).await, Stock { unissued: 0, claimed: 3, endless: false });
    assert_eq!(stock_of(fixture, &b).await, Stock { unissued: 0, claimed: 7, endless: false });
}

/// A product named several times in one set moves by the sum.
pub async fn claims_of_one_product_in_one_set_add_up(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let deltas = [(product.id, 5), (product.id, -1), (product.id, 3)];
    fixture.write(async |tx| tx.stock_move(&deltas).await).await;
    assert_eq!(stock_of(fixture, &product).await.claimed, 7);
}

/// Nothing can be given back that was not claimed.
pub async fn claim_below_zero_is_a_data_fault(fixture: &Fixture) {
    let product = fixture.product("card").await;
    fixture.write(async |tx| tx.stock_move(&[(product.id, 2)]).await).await;
    fixture.assert_refused(async |tx| tx.stock_move(&[(product.id, -3)]).await).await;
    assert_eq!(stock_of(fixture, &product).await.claimed, 2);
}

/// A count that does not fit is the input's fault, neither wrapped nor rounded.
pub async fn claim_that_does_not_fit_is_a_data_fault(fixture: &Fixture) {
    let product = fixture.product("card").await;
    fixture.write(async |tx| tx.stock_move(&[(product.id, i64::MAX)]).await).await;
    assert_eq!(stock_of(fixture, &product).await.claimed, i64::MAX);
    fixture.assert_refused(async |tx| tx.stock_move(&[(product.id, 1)]).await).await;
    let twice = [(product.id, i64::MAX), (product.id, i64::MAX)];
    fixture.assert_refused(async |tx| tx.stock_move(&twice).await).await;
    assert_eq!(stock_of(fixture, &product).await.claimed, i64::MAX);
}

/// A loading batch is not on the shelf, and a closed one has nothing left.
pub async fn shelf_holds_the_unissued_of_open_batches(fixture: &Fixture) {
    let product = fixture.product("card").await;
    fixture.loading(&product, 3).await;
    assert_eq!(stock_of(fixture, &product).await.unissued, 0);
    let first = fixture.batch(&product, 5).await;
    fixture.batch(&product, 2).await;
    assert_eq!(stock_of(fixture, &product).await.unissued, 7);
    fixture
        .write(async |tx| {
            tx.spans_append(&[void_span(first, 0, 5, 5)]).await?;
            tx.batches_advance(&[(first, 5)]).await
        })
        .await;
    assert_eq!(stock_of(fixture, &product).await.unissued, 2);
}

/// Operators see what was issued, voided, claimed and waits, by sku.
pub async fn figures_tell_where_the_codes_are(fixture: &Fixture) {
    let (b, a) = (fixture.product("b").await, fixture.product("a").await);
    let batch = fixture.batch(&b, 10).await;
    let issued = fixture.place_paid("ann", &[(&b, 3)]).await;
    fixture.issue(&issued, batch, 0, 10).await;
    fixture
        .write(async |tx| {
            tx.spans_append(&[void_span(batch, 3, 5, 10)]).await?;
            tx.batches_advance(&[(batch, 5)]).await
        })
        .await;
    let waiting = fixture.place_paid("bob", &[(&b, 4), (&a, 1)]).await;
    fixture.backorder(&waiting, &[&a]).await;
    fixture.place("cid", &[(&b, 2)]).await;
    let figures = |name, unissued, claimed, issued, voided, backordered| {
        let stock = Stock { unissued, claimed, endless: false };
        StockFigures { sku: sku(name), stock, issued, voided, backordered }
    };
    let of_b = figures("b", 5, 6, 3, 2, 4);
    let all = fixture.read(async |tx| tx.stock_figures(None).await).await;
    assert_eq!(all, [figures("a", 0, 1, 0, 0, 1), of_b.clone()]);
    assert_eq!(fixture.read(async |tx| tx.stock_figures(Some(&sku("b"))).await).await, [of_b]);
}

/// An order that ends keeps its lines, and its claims fall only when somebody says so.
pub async fn claims_fall_only_when_they_are_moved(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place("ann", &[(&product, 2)]).await;
    fixture.advance(&order, OrderState::Expired { closed_at: fixture.now() }).await;
    assert_eq!(stock_of(fixture, &product).await.claimed, 2);
}

/// Locking what is not there is no fault.
pub async fn unknown_products_can_be_locked(fixture: &Fixture) {
    let unknown = fixture.id(ProductId::new);
    fixture.write(async |tx| tx.stock_lock(&[unknown]).await).await;
}
