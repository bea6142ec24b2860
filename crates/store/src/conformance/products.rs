//! Products: put, replaced, found and listed.

use std::slice::from_ref;
use std::time::Duration;

use tessera_model::ids::ProductId;
use tessera_model::product::{Pick, Product};
use tessera_model::text::Note;

use super::Fixture;
use super::shop::{cny, sku};

/// Every rule comes back, however the product is asked for.
pub async fn product_is_read_as_it_was_put(fixture: &Fixture) {
    let mut full = fixture.new_product("full");
    full.rules.note = Note::parse("Redeem at once.\n\"Now\"").expect("a note");
    full.rules.price = cny(10_000_000_000);
    full.rules.hold = Duration::from_secs(7);
    full.rules.max_per_order = Some(1);
    full.rules.per_customer_limit = Some(2);
    full.rules.new_customers_only = true;
    full.rules.open_orders_per_customer = Some(3);
    full.rules.sale_starts_at = Some(fixture.ago(5));
    full.rules.sale_ends_at = Some(fixture.later(5));
    full.rules.backorders = false;
    full.rules.pick = Pick::Random;
    full.rules.low_stock_at = Some(4);
    full.rules.active = false;
    let bare = fixture.new_product("bare");
    let both = vec![full, bare];
    fixture.write(async |tx| tx.products_put(&both).await).await;
    let ids: Vec<ProductId> = both.iter().map(|p| p.id).collect();
    let by_id = fixture.read(async |tx| tx.products_read(&ids).await).await;
    assert_eq!(by_age(by_id), both);
    let by_sku = fixture.read(async |tx| tx.products_of(&[sku("bare"), sku("full")]).await).await;
    assert_eq!(by_age(by_sku), both);
}

/// A product whose id is known is replaced, its stock untouched.
pub async fn product_put_again_is_replaced(fixture: &Fixture) {
    let mut product = fixture.product("card").await;
    fixture.write(async |tx| tx.stock_move(&[(product.id, 3)]).await).await;
    product.rules.sku = sku("card-2");
    product.rules.price = cny(5);
    fixture.write(async |tx| tx.products_put(from_ref(&product)).await).await;
    let (old, new, stock) = fixture
        .read(async |tx| {
            let old = tx.products_of(&[sku("card")]).await?;
            Ok((old, tx.products_of(&[sku("card-2")]).await?, tx.stock_read(&[product.id]).await?))
        })
        .await;
    assert_eq!((old, new), (vec![], vec![product]));
    assert_eq!(stock[0].1.claimed, 3);
}

/// Two products cannot have one sku; case counts.
pub async fn taken_sku_is_a_data_fault(fixture: &Fixture) {
    fixture.product("card").await;
    fixture.product("CARD").await;
    let another = fixture.new_product("card");
    fixture.assert_refused(async |tx| tx.products_put(from_ref(&another)).await).await;
}

/// Asking for what is not there is no fault.
pub async fn unknown_products_are_absent(fixture: &Fixture) {
    let known = fixture.product("card").await;
    let ids = [fixture.id(ProductId::new), known.id];
    assert_eq!(fixture.read(async |tx| tx.products_read(&ids).await).await, from_ref(&known));
    let skus = [sku("none"), sku("card")];
    assert_eq!(fixture.read(async |tx| tx.products_of(&skus).await).await, [known]);
    assert_eq!(fixture.read(async |tx| tx.stock_read(&ids[..1]).await).await, []);
    assert_eq!(fixture.read(async |tx| tx.stock_figures(Some(&sku("none"))).await).await, []);
}

/// A list goes from the newest back, page by page.
pub async fn products_are_listed_newest_first(fixture: &Fixture) {
    let mut products = vec![];
    for name in ["a", "b", "c"] {
        products.push(fixture.product(name).await);
    }
    let first = fixture.read(async |tx| tx.products_list(None, 2).await).await;
    assert_eq!(first, [products[2].clone(), products[1].clone()]);
    let rest = fixture.read(async |tx| tx.products_list(Some(products[1].id), 2).await).await;
    assert_eq!(rest, [products[0].clone()]);
    let mut hidden = products[2].clone();
    hidden.rules.active = false;
    fixture.write(async |tx| tx.products_put(from_ref(&hidden)).await).await;
    let shown = fixture.read(async |tx| tx.products_catalogue(None, 1).await).await;
    assert_eq!(shown, [products[1].clone()]);
    let older = fixture.read(async |tx| tx.products_catalogue(Some(products[1].id), 2).await).await;
    assert_eq!(older, [products[0].clone()]);
}

/// A product counts as sold from its first order on, whatever became of it.
pub async fn product_counts_as_sold_once_it_is_in_an_order(fixture: &Fixture) {
    let (sold, unsold) = (fixture.product("sold").await, fixture.product("unsold").await);
    fixture.place("ann", &[(&sold, 1)]).await;
    let found = fixture.read(async |tx| tx.products_sold(&[sold.id, unsold.id]).await).await;
    assert_eq!(found, [sold.id]);
}

fn by_age(mut products: Vec<Product>) -> Vec<Product> {
    products.sort_by_key(|p| p.id);
    products
}
