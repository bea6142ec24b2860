//! How a raffle goes on outside an issuing set: after a round was called off or burned, and when its product changed.

use std::collections::BTreeMap;

use tessera_model::ids::{BatchId, ProductId};
use tessera_model::product::Product;
use tessera_store::rounds::StoredRaffle;
use tessera_store::{Result, Tx};

use super::Mint;

/// As [`go_on`], without the rounds that were called off.
pub(crate) async fn go_on_without(
    tx: &mut dyn Tx,
    mint: &Mint,
    mut stored: Vec<StoredRaffle>,
    products: &[Product],
    called_off: &[BatchId],
) -> Result<()> {
    for raffle in &mut stored {
        raffle.round = raffle.round.take().filter(|round| !called_off.contains(&round.batch.id));
    }
    go_on(tx, mint, stored, products).await
}

/// Takes rounds that have nothing left from sale, opens the next of each raffle that has none on sale, and has orders
/// claim where none follows. The caller holds the raffles' stock rows.
///
/// # Errors
/// The store's, and `Data` when a raffle's key does not open.
pub async fn go_on(
    tx: &mut dyn Tx,
    mint: &Mint,
    stored: Vec<StoredRaffle>,
    products: &[Product],
) -> Result<()> {
    let products: BTreeMap<ProductId, &Product> = products.iter().map(|p| (p.id, p)).collect();
    let (mut spent, mut opened, mut claims, now) = (vec![], vec![], vec![], tx.now());
    for stored in stored {
        let Some(product) = products.get(&stored.product) else { continue };
        let Some(mut room) = mint.room(stored, product, now)? else { continue };
        let settled = room.settle();
        spent.extend(settled.spent);
        if let Some(new) = settled.opened {
            opened.push(mint.to_open(new, None)?);
        }
        claims.push((product.id, room.claims()));
    }
    if !spent.is_empty() {
        tx.rounds_turn(&spent).await?;
    }
    if !opened.is_empty() {
        tx.rounds_open(&opened).await?;
    }
    tx.stock_claims(&claims).await
}
