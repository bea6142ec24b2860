//! Sets: of none and of the most.

use tessera_model::ids::OrderId;
use tessera_model::order::OrderState;
use tessera_model::pay::{MoneyEntry, MoneyState};
use tessera_model::place::{Placed, RequestKey};
use tessera_model::span::Span;

use super::Fixture;
use super::shop::{issue_span, place};
use crate::orders::{Advance, KnownRequest};
use crate::payments::Payment;
use crate::{Result, SET_MAX, Tx};

/// An empty set changes nothing and finds nothing, whatever the operation.
pub async fn empty_sets_are_harmless(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let order = fixture.place_paid("ann", &[(&product, 1)]).await;
    let batch = fixture.loading(&product, 1).await;
    fixture.clock.set(fixture.later(10));
    fixture
        .write(async |tx| {
            read_nothing(tx).await?;
            write_nothing(tx).await?;
            tx.codes_insert(batch, &[]).await
        })
        .await;
    let (orders, stock) = fixture
        .read(async |tx| Ok((tx.orders_read(&[order.id]).await?, tx.stock_read(&[product.id]).await?)))
        .await;
    assert_eq!(orders, [order]);
    assert_eq!(stock[0].1.claimed, 1);
}

async fn read_nothing(tx: &mut dyn Tx) -> Result<()> {
    assert_eq!(tx.products_of(&[]).await?, []);
    assert_eq!(tx.products_read(&[]).await?, []);
    assert_eq!(tx.products_sold(&[]).await?, []);
    assert_eq!(tx.stock_read(&[]).await?, []);
    assert_eq!(tx.customers_standing(&[], &[]).await?, []);
    assert_eq!(tx.requests_read(&[]).await?, []);
    assert_eq!(tx.orders_lock(&[]).await?, []);
    assert_eq!(tx.orders_read(&[]).await?, []);
    assert_eq!(tx.orders_versions(&[]).await?, []);
    assert_eq!(tx.orders_products(&[]).await?, []);
    assert_eq!(tx.lines_read(&[]).await?, []);
    assert_eq!(tx.payments_known(&[]).await?, []);
    assert_eq!(tx.money_of(&[]).await?, []);
    assert_eq!(tx.batches_open_of(&[]).await?, []);
    assert_eq!(tx.spans_of(&[]).await?, []);
    assert_eq!(tx.codes_read(&[]).await?, []);
    assert_eq!(tx.codes_known(&[]).await?, []);
    assert_eq!(tx.waitlists_read(&[], 9).await?, []);
    Ok(())
}

async fn write_nothing(tx: &mut dyn Tx) -> Result<()> {
    tx.products_put(&[]).await?;
    tx.stock_lock(&[]).await?;
    tx.stock_move(&[]).await?;
    tx.customers_lock(&[]).await?;
    tx.customers_move(&[]).await?;
    tx.customers_forget(&[]).await?;
    assert_eq!(tx.requests_claim(&[], tx.now()).await?, [[0; 32]; 0]);
    tx.requests_release(&[]).await?;
    tx.orders_insert(&[]).await?;
    assert_eq!(tx.orders_advance(&[]).await?, []);
    tx.orders_told(&[]).await?;
    assert_eq!(tx.payments_claim(&[]).await?, []);
    tx.payments_unclaim(&[]).await?;
    tx.payments_explain(&[]).await?;
    tx.money_append(&[]).await?;
    tx.notices_put(&[]).await?;
    tx.notices_trim("none", 1).await?;
    tx.batches_advance(&[]).await?;
    tx.spans_append(&[]).await?;
    assert!(tx.waitlists_of(&[]).await?.is_empty());
    tx.waitlists_join(&[]).await?;
    tx.waitlists_leave(&[]).await?;
    tx.waitlists_told(&[]).await?;
    tx.letters_put(&[]).await?;
    tx.letters_resolve(&[]).await?;
    assert_eq!(tx.attempts_raise(&[]).await?, []);
    tx.attempts_clear(&[]).await?;
    tx.audit_append(&[]).await?;
    tx.key_checks_put(&[]).await
}

/// The most orders that one set may have are placed, paid, issued and read in sets, and all is balanced.
pub async fn largest_sets_are_done_whole(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let placed: Vec<Placed> =
        (0..SET_MAX).map(|n| fixture.new_order(&format!("buyer {n}"), &[(&product, 1)])).collect();
    let ids: Vec<OrderId> = placed.iter().map(|p| p.order.id).collect();
    let wanted: Vec<KnownRequest> = ids
        .iter()
        .map(|order| {
            let request = RequestKey { key: fixture.bytes(), body: fixture.bytes() };
            KnownRequest { request, order: *order }
        })
        .collect();
    fixture
        .write(async |tx| {
            assert_eq!(tx.requests_claim(&wanted, tx.now()).await?.len(), SET_MAX);
            place(tx, &placed).await
        })
        .await;
    pay_all(fixture, &placed).await;
    issue_all(fixture, &product, &placed).await;
    let (orders, lines, spans) = fixture
        .read(async |tx| {
            let orders = tx.orders_read(&ids).await?;
            Ok((orders, tx.lines_read(&ids).await?, tx.spans_of(&ids).await?))
        })
        .await;
    assert_eq!((orders.len(), lines.len(), spans.len()), (SET_MAX, SET_MAX, SET_MAX));
    assert!(orders.iter().all(|o| o.version == 3));
    let checks = fixture.read(async |tx| tx.reconcile().await).await;
    assert!(checks.iter().all(|c| c.faults.is_empty()), "{checks:?}");
}

async fn pay_all(fixture: &Fixture, placed: &[Placed]) {
    let payments: Vec<Payment> =
        placed.iter().map(|p| fixture.new_payment(&p.order.id.to_string(), p.order.amount.minor)).collect();
    let explained: Vec<_> = payments.iter().map(|p| (p.id, p.order(), None)).collect();
    let entries: Vec<MoneyEntry> = payments
        .iter()
        .map(|p| MoneyEntry {
            payment: p.id,
            order: p.order(),
            amount: p.amount.minor,
            state: MoneyState::Settled,
        })
        .collect();
    fixture
        .write(async |tx| {
            assert_eq!(tx.payments_claim(&payments).await?.len(), SET_MAX);
            tx.payments_explain(&explained).await?;
            tx.money_append(&entries).await?;
            let state = OrderState::Paid { paid_at: tx.now() };
            assert_eq!(tx.orders_advance(&advances(placed, 1, state)).await?.len(), SET_MAX);
            Ok(())
        })
        .await;
}

async fn issue_all(fixture: &Fixture, product: &tessera_model::product::Product, placed: &[Placed]) {
    let size = i64::try_from(SET_MAX).expect("a small number");
    let batch = fixture.batch(product, size).await;
    let spans: Vec<Span> =
        (0..size).zip(placed).map(|(n, p)| issue_span(batch, n, n + 1, size, p.order.id)).collect();
    fixture
        .write(async |tx| {
            tx.spans_append(&spans).await?;
            tx.batches_advance(&[(batch, size)]).await?;
            tx.stock_move(&[(product.id, -size)]).await?;
            let state = OrderState::Issued { paid_at: tx.now(), issued_at: tx.now() };
            assert_eq!(tx.orders_advance(&advances(placed, 2, state)).await?.len(), SET_MAX);
            Ok(())
        })
        .await;
}

fn advances(placed: &[Placed], version: i64, state: OrderState) -> Vec<Advance> {
    placed.iter().map(|p| Advance { id: p.order.id, version, state }).collect()
}
