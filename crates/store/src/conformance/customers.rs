//! Customers: one however written, with a standing that limits are counted by.

use std::slice::from_ref;

use tessera_model::order::OrderState;
use tessera_model::place::Standing;

use super::Fixture;
use super::shop::customer;

async fn standing_of(
    fixture: &Fixture,
    name: &str,
    products: &[&tessera_model::product::Product],
) -> Standing {
    let ids: Vec<_> = products.iter().map(|p| p.id).collect();
    let name = customer(name);
    let known = fixture.read(async |tx| tx.customers_standing(from_ref(&name), &ids).await).await;
    assert_eq!(known.len(), 1, "one answer a customer");
    assert_eq!(known[0].0, name.folded());
    known[0].1.clone()
}

/// Locking makes a customer known, once; a new one has no standing.
pub async fn locking_a_customer_twice_is_no_fault(fixture: &Fixture) {
    let product = fixture.product("card").await;
    for written in ["Ann@x.com", "ann@X.com "] {
        fixture.write(async |tx| tx.customers_lock(&[customer(written)]).await).await;
    }
    assert_eq!(standing_of(fixture, "ann@x.com", &[&product]).await, Standing::default());
}

/// A customer nobody has heard of stands like a new one.
pub async fn unknown_customer_has_no_standing(fixture: &Fixture) {
    let product = fixture.product("card").await;
    assert_eq!(standing_of(fixture, "nobody", &[&product]).await, Standing::default());
}

/// Orders under different writings count for one customer.
pub async fn customer_written_differently_is_one(fixture: &Fixture) {
    let product = fixture.product("card").await;
    fixture.place("Ann@x.com", &[(&product, 1)]).await;
    fixture.place("ａｎｎ@x.com", &[(&product, 2)]).await;
    let standing = standing_of(fixture, "ANN@X.COM", &[&product]).await;
    assert_eq!((standing.open, standing.units[&product.id]), (2, 3));
}

/// Unpaid orders are counted in all and by product; other customers' are not.
pub async fn standing_counts_open_orders_and_units(fixture: &Fixture) {
    let (a, b, c) = (fixture.product("a").await, fixture.product("b").await, fixture.product("c").await);
    fixture.place("ann", &[(&a, 2), (&b, 1)]).await;
    fixture.place("ann", &[(&a, 3)]).await;
    fixture.place("bob", &[(&c, 9)]).await;
    let standing = standing_of(fixture, "ann", &[&a, &b, &c]).await;
    assert_eq!((standing.open, standing.ever_paid), (2, false));
    assert_eq!(standing.units, [(a.id, 5), (b.id, 1)].into());
    assert_eq!(standing.open_of, [(a.id, 2), (b.id, 1)].into());
    let of_b = standing_of(fixture, "ann", &[&b]).await;
    assert_eq!((of_b.open, of_b.units, of_b.open_of), (2, [(b.id, 1)].into(), [(b.id, 1)].into()));
}

/// A paid order is open no more, and makes its customer one who has paid; an expired one does not.
pub async fn customer_who_paid_is_new_no_more(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let expired = fixture.place("ann", &[(&product, 1)]).await;
    fixture.advance(&expired, OrderState::Expired { closed_at: fixture.now() }).await;
    let standing = standing_of(fixture, "ann", &[&product]).await;
    assert_eq!((standing.open, standing.ever_paid), (0, false));
    let paid = fixture.place_paid("ann", &[(&product, 1)]).await;
    let standing = standing_of(fixture, "ann", &[&product]).await;
    assert_eq!((standing.open, standing.ever_paid), (0, true));
    assert_eq!(standing.open_of, [].into());
    let (paid_at, at) = (fixture.now(), fixture.now());
    fixture.advance(&paid, OrderState::RefundDue { paid_at, issued_at: None, refund_due_at: at }).await;
    assert!(standing_of(fixture, "ann", &[&product]).await.ever_paid, "money that went back was paid");
}

/// Units move by what is said, several times in one set too.
pub async fn units_add_up(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let ann = customer("ann");
    fixture
        .write(async |tx| {
            tx.customers_lock(from_ref(&ann)).await?;
            tx.customers_move(&[(ann.clone(), product.id, 5), (ann.clone(), product.id, 2)]).await?;
            tx.customers_move(&[(ann.clone(), product.id, -3)]).await
        })
        .await;
    assert_eq!(standing_of(fixture, "ann", &[&product]).await.units, [(product.id, 4)].into());
}

/// Nothing can be given back that was never had, by a customer with a counter or without.
pub async fn units_below_zero_are_a_data_fault(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let ann = customer("ann");
    fixture.write(async |tx| tx.customers_lock(from_ref(&ann)).await).await;
    fixture.assert_refused(async |tx| tx.customers_move(&[(ann.clone(), product.id, -1)]).await).await;
    fixture.write(async |tx| tx.customers_move(&[(ann.clone(), product.id, 1)]).await).await;
    fixture.assert_refused(async |tx| tx.customers_move(&[(ann.clone(), product.id, -2)]).await).await;
    assert_eq!(standing_of(fixture, "ann", &[&product]).await.units, [(product.id, 1)].into());
}

/// Counters belong to customers that were locked before.
pub async fn units_of_an_unknown_customer_are_a_data_fault(fixture: &Fixture) {
    let product = fixture.product("card").await;
    fixture.assert_refused(async |tx| tx.customers_move(&[(customer("ann"), product.id, 1)]).await).await;
}

/// Only a customer that nothing refers to is forgotten.
pub async fn customer_without_an_order_is_forgotten(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let placed = fixture.place("ann", &[(&product, 1)]).await;
    let refused = [customer("ann"), customer("bob"), customer("cid")];
    fixture
        .write(async |tx| {
            tx.customers_lock(&refused[..2]).await?;
            tx.customers_forget(&refused).await
        })
        .await;
    assert_eq!(fixture.read(async |tx| tx.orders_read(&[placed.id]).await).await.len(), 1);
    fixture.write(async |tx| tx.customers_move(&[(customer("ann"), product.id, 1)]).await).await;
    fixture.assert_refused(async |tx| tx.customers_move(&[(customer("bob"), product.id, 1)]).await).await;
}
