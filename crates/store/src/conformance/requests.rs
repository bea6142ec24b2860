//! Requests that repeat: one order a key, until the key is old.

use std::slice::from_ref;

use tessera_model::ids::OrderId;
use tessera_model::place::RequestKey;
use tessera_model::product::Product;

use super::Fixture;
use crate::orders::KnownRequest;

/// A request that asks for an order which is in the store.
async fn request(fixture: &Fixture, product: &Product) -> KnownRequest {
    let order = fixture.place("ann", &[(product, 1)]).await.id;
    KnownRequest { request: RequestKey { key: fixture.bytes(), body: fixture.bytes() }, order }
}

async fn claim(
    fixture: &Fixture,
    wanted: &[KnownRequest],
    stale: tessera_model::time::Timestamp,
) -> Vec<[u8; 32]> {
    fixture.write(async |tx| tx.requests_claim(wanted, stale).await).await
}

/// The first claim gets the key, and the key then names its order.
pub async fn request_is_claimed_once(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let first = request(fixture, &product).await;
    let second = KnownRequest { request: first.request, ..request(fixture, &product).await };
    let other = request(fixture, &product).await;
    assert_eq!(claim(fixture, &[first], fixture.ago(9)).await, [first.request.key]);
    assert_eq!(claim(fixture, &[second, other], fixture.ago(9)).await, [other.request.key]);
    let keys = [first.request.key, fixture.bytes()];
    assert_eq!(fixture.read(async |tx| tx.requests_read(&keys).await).await, [first]);
}

/// A key older than the bound goes to the next who asks; one exactly as old does not.
pub async fn stale_request_is_taken_over(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let first = request(fixture, &product).await;
    let key = first.request.key;
    let claimed_at = fixture.now();
    claim(fixture, &[first], fixture.ago(9)).await;
    let second = KnownRequest {
        request: RequestKey { key, body: fixture.bytes() },
        ..request(fixture, &product).await
    };
    fixture.clock.set(fixture.later(10));
    assert_eq!(claim(fixture, &[second], claimed_at).await, [[0; 32]; 0]);
    assert_eq!(claim(fixture, &[second], fixture.ago(9)).await, [key]);
    assert_eq!(fixture.read(async |tx| tx.requests_read(&[key]).await).await, [second]);
    assert_eq!(
        claim(fixture, &[first], fixture.ago(9)).await,
        [[0; 32]; 0],
        "it is as young as its last claim"
    );
}

/// A key whose order was refused is free again; the others are not.
pub async fn released_request_is_free(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let (refused, kept) = (request(fixture, &product).await, request(fixture, &product).await);
    claim(fixture, &[refused, kept], fixture.ago(9)).await;
    fixture.write(async |tx| tx.requests_release(&[refused.request.key, fixture.bytes()]).await).await;
    assert_eq!(claim(fixture, &[refused, kept], fixture.ago(9)).await, [refused.request.key]);
}

/// A claim comes before its order, and a claim without one cannot be committed.
pub async fn request_without_its_order_is_a_data_fault(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let placed = fixture.new_order("ann", &[(&product, 1)]);
    let request = RequestKey { key: fixture.bytes(), body: fixture.bytes() };
    let known = KnownRequest { request, order: placed.order.id };
    fixture.assert_refused(async |tx| tx.requests_claim(&[known], tx.now()).await).await;
    fixture
        .write(async |tx| {
            tx.requests_claim(&[known], tx.now()).await?;
            super::shop::place(tx, from_ref(&placed)).await
        })
        .await;
    let unknown = KnownRequest { order: fixture.id(OrderId::new), ..known };
    assert_eq!(claim(fixture, &[unknown], fixture.ago(9)).await, [[0; 32]; 0]);
}

/// Old requests go, at most so many at a time; young ones stay.
pub async fn old_requests_are_purged_in_bits(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut old = vec![];
    for _ in 0..3 {
        old.push(request(fixture, &product).await);
    }
    claim(fixture, &old, fixture.ago(9)).await;
    fixture.clock.set(fixture.later(10));
    let young = request(fixture, &product).await;
    claim(fixture, &[young], fixture.ago(9)).await;
    for purged in [2, 1, 0] {
        assert_eq!(fixture.write(async |tx| tx.requests_purge(fixture.ago(5), 2).await).await, purged);
    }
    let keys = [old[0], old[1], old[2], young].map(|r| r.request.key);
    assert_eq!(fixture.read(async |tx| tx.requests_read(&keys).await).await, [young]);
}
