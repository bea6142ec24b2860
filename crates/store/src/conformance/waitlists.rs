//! Waitlists: strictly by when an order was paid, served from the head.

use tessera_model::ids::{OrderId, ProductId};
use tessera_model::order::Order;
use tessera_model::product::Product;

use super::Fixture;
use super::letters::letter_about;

async fn waiting(fixture: &Fixture, products: &[&Product], limit: i64) -> Vec<(ProductId, OrderId)> {
    let ids: Vec<ProductId> = products.iter().map(|p| p.id).collect();
    let places = fixture.read(async |tx| tx.waitlists_read(&ids, limit).await).await;
    places.into_iter().map(|(product, (_, order))| (product, order)).collect()
}

async fn fillable(fixture: &Fixture, seconds_ago: u64, limit: i64) -> Vec<(OrderId, ProductId)> {
    let mut found =
        fixture.read(async |tx| tx.waitlists_fillable(fixture.ago(seconds_ago), limit).await).await;
    found.sort();
    found
}

/// An order of so many units that waits for the product.
async fn waiter(fixture: &Fixture, name: &str, product: &Product, quantity: i64) -> Order {
    let order = fixture.place_paid(name, &[(product, quantity)]).await;
    fixture.backorder(&order, &[product]).await
}

/// Who paid first is first, and of those who paid at once the lowest id, in whatever order they joined.
pub async fn waitlist_is_ordered_by_payment_and_id(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let late = fixture.place_paid("ann", &[(&product, 1)]).await.id;
    let low = fixture.place_paid("bob", &[(&product, 1)]).await.id;
    let high = fixture.place_paid("cid", &[(&product, 1)]).await.id;
    let joined = [
        (product.id, (fixture.later(1), late)),
        (product.id, (fixture.now(), high)),
        (product.id, (fixture.now(), low)),
    ];
    fixture.write(async |tx| tx.waitlists_join(&joined).await).await;
    let places = fixture.read(async |tx| tx.waitlists_read(&[product.id], 9).await).await;
    assert_eq!(places, [joined[2], joined[1], joined[0]]);
    let elsewhere = fixture.place_paid("dan", &[(&product, 1)]).await.id;
    let waiting = fixture.read(async |tx| tx.waitlists_of(&[elsewhere, high]).await).await;
    assert_eq!(waiting, [high]);
}

/// The limit holds for each product, and counts from its head.
pub async fn limit_counts_from_the_head_of_each_waitlist(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let mut orders = vec![];
    for name in ["ann", "bob", "cid"] {
        let order = fixture.place_paid(name, &[(&a, 1), (&b, 1)]).await;
        fixture.backorder(&order, &[&a, &b]).await;
        orders.push(order.id);
    }
    let first_two = [(a.id, orders[0]), (a.id, orders[1]), (b.id, orders[0]), (b.id, orders[1])];
    assert_eq!(waiting(fixture, &[&b, &a], 2).await, first_two);
    assert_eq!(waiting(fixture, &[&a], 9).await.len(), 3);
    assert_eq!(waiting(fixture, &[&a, &b], 0).await, []);
}

/// An order stands in a waitlist once, and keeps its place.
pub async fn order_joins_a_waitlist_once(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = waiter(fixture, "ann", &product, 1).await;
    let (paid_at, later) = (fixture.now(), fixture.later(60));
    let again = [(product.id, (paid_at, order.id)), (product.id, (later, order.id))];
    fixture.write(async |tx| tx.waitlists_join(&again).await).await;
    let places = fixture.read(async |tx| tx.waitlists_read(&[product.id], 9).await).await;
    assert_eq!(places, [(product.id, (paid_at, order.id))]);
}

/// Who leaves, leaves every waitlist; the next moves up.
pub async fn order_leaves_every_waitlist(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let order = fixture.place_paid("ann", &[(&a, 1), (&b, 1)]).await;
    fixture.backorder(&order, &[&a, &b]).await;
    let next = waiter(fixture, "bob", &a, 1).await.id;
    fixture.write(async |tx| tx.waitlists_leave(&[order.id, fixture.id(OrderId::new)]).await).await;
    assert_eq!(waiting(fixture, &[&a, &b], 9).await, [(a.id, next)]);
}

/// Only orders of the store wait, for products of the store.
pub async fn impossible_places_are_data_faults(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place_paid("ann", &[(&product, 1)]).await.id;
    let unknown_order = (product.id, (fixture.now(), fixture.id(OrderId::new)));
    let unknown_product = (fixture.id(ProductId::new), (fixture.now(), order));
    for place in [unknown_order, unknown_product] {
        fixture.assert_refused(async |tx| tx.waitlists_join(&[place]).await).await;
    }
}

/// A head is fillable once the unissued codes of its product suffice; claims are not taken off.
pub async fn head_is_fillable_when_its_codes_are_there(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let head = waiter(fixture, "ann", &a, 3).await.id;
    waiter(fixture, "bob", &a, 1).await;
    waiter(fixture, "cid", &b, 1).await;
    fixture.clock.set(fixture.later(10));
    fixture.batch(&a, 2).await;
    assert_eq!(fillable(fixture, 0, 9).await, [], "the second may not go before the head");
    fixture.loading(&a, 5).await;
    assert_eq!(fillable(fixture, 0, 9).await, [], "a loading batch gives nothing");
    fixture.batch(&a, 1).await;
    assert_eq!(fillable(fixture, 0, 9).await, [(head, a.id)]);
}

/// Several products' heads are found in one look, at most so many, each with its order's queue.
pub async fn heads_of_several_products_are_fillable(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let (of_a, of_b) = (fixture.place_paid("ann", &[(&a, 1)]).await, {
        let order = fixture.place_paid("bob", &[(&b, 1), (&a, 1)]).await;
        fixture.backorder(&order, &[&b]).await
    });
    fixture.backorder(&of_a, &[&a]).await;
    fixture.batch(&a, 5).await;
    fixture.batch(&b, 5).await;
    fixture.clock.set(fixture.later(10));
    assert_eq!(fillable(fixture, 0, 9).await, [(of_a.id, a.id), (of_b.id, a.id)]);
    assert_eq!(fillable(fixture, 0, 1).await.len(), 1);
}

/// A head that was told is fillable again when that is longer ago than the bound.
pub async fn told_head_is_fillable_again_later(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let head = waiter(fixture, "ann", &product, 1).await.id;
    fixture.batch(&product, 5).await;
    assert_eq!(fillable(fixture, 0, 9).await, [], "it was paid at the bound, not before");
    fixture.clock.set(fixture.later(10));
    assert_eq!(fillable(fixture, 9, 9).await, [(head, product.id)]);
    fixture.write(async |tx| tx.waitlists_told(&[head]).await).await;
    assert_eq!(fillable(fixture, 5, 9).await, []);
    fixture.clock.set(fixture.later(10));
    assert_eq!(fillable(fixture, 5, 9).await, [(head, product.id)]);
}

/// A live letter keeps the sweeper off a head.
pub async fn letter_keeps_a_head_from_being_filled(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let head = waiter(fixture, "ann", &product, 1).await.id;
    fixture.batch(&product, 5).await;
    fixture.clock.set(fixture.later(10));
    let letter = letter_about(fixture, Some(head));
    fixture.write(async |tx| tx.letters_put(&[letter]).await).await;
    assert_eq!(fillable(fixture, 0, 9).await, []);
    fixture.write(async |tx| tx.letters_resolve(&[head]).await).await;
    assert_eq!(fillable(fixture, 0, 9).await, [(head, product.id)]);
}
