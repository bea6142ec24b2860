//! Payments with where their money is.

use std::collections::BTreeMap;
use std::sync::Arc;

use tessera_model::ids::PaymentId;
use tessera_model::pay::{MoneyState, Portions};
use tessera_store::refunds::StoredPayment;
use tessera_store::{Result, Store, Tx, run_alone};

/// A payment and where its money is, at one instant.
#[derive(Clone, Debug)]
pub struct PaymentView {
    /// The payment.
    pub stored: StoredPayment,
    /// Its money by state.
    pub portions: Portions,
}

/// Payments newest first: all, or those with money in `state`.
///
/// # Errors
/// The store's.
pub async fn payments(
    store: &Arc<dyn Store>,
    state: Option<MoneyState>,
    before: Option<PaymentId>,
    limit: i64,
) -> Result<Vec<PaymentView>> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        let listed = tx.payments_list(state, before, limit).await?;
        with_portions(&mut *tx, listed).await
    })
    .await
}

/// One payment; none when there is no such.
///
/// # Errors
/// The store's.
pub async fn payment(store: &Arc<dyn Store>, id: PaymentId) -> Result<Option<PaymentView>> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        let found = tx.payments_read(&[id]).await?;
        Ok(with_portions(&mut *tx, found).await?.pop())
    })
    .await
}

async fn with_portions(tx: &mut dyn Tx, payments: Vec<StoredPayment>) -> Result<Vec<PaymentView>> {
    let ids: Vec<PaymentId> = payments.iter().map(|stored| stored.payment.id).collect();
    let mut portions: BTreeMap<PaymentId, Portions> = BTreeMap::new();
    for (payment, state, minor) in tx.portions_of(&ids).await? {
        portions.entry(payment).or_default().insert(state, minor);
    }
    let view = |stored: StoredPayment| {
        let portions = portions.remove(&stored.payment.id).unwrap_or_default();
        PaymentView { stored, portions }
    };
    Ok(payments.into_iter().map(view).collect())
}
