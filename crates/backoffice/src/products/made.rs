//! What a product's kind makes of it: the first round of a raffle, the pools of a coupon.

use std::collections::HashMap;

use tessera_issuer::Mint;
use tessera_issuer::rounds::go_on;
use tessera_issuer::void::void_unissued;
use tessera_model::coupon::Format;
use tessera_model::ids::ProductId;
use tessera_model::product::{Coupon, Product};
use tessera_model::text::Sku;
use tessera_store::coupons::StoredFormat;
use tessera_store::{Result, Tx};

use super::ApplyError;

/// Opens the first round of each new raffle, and of each whose last one is spent; says whether orders claim.
pub(super) async fn raffles(tx: &mut dyn Tx, mint: &Mint, products: &[Product]) -> Result<()> {
    let is_raffle = |product: &&Product| product.rules.kind.raffle().is_some();
    let ids: Vec<ProductId> = products.iter().filter(is_raffle).map(|product| product.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let keys = ids.iter().map(|id| Ok((*id, mint.raffle_key(*id)?))).collect::<Result<Vec<_>>>()?;
    // One that has a key keeps it.
    tx.raffles_put(&keys).await?;
    let stored = tx.raffles_read(&ids).await?;
    go_on(tx, mint, stored, products).await
}

/// A coupon that asks for more codes than its product has of the format.
struct Asked<'p> {
    product: &'p Product,
    coupon: &'p Coupon,
    more: i64,
}

/// Opens a pool for each coupon that asks for more codes than were made of its format.
pub(super) async fn coupons(
    tx: &mut dyn Tx,
    mint: &Mint,
    products: &[Product],
    (known, actor): (&HashMap<Sku, Product>, &str),
    stored: Vec<StoredFormat>,
) -> Result<std::result::Result<(), ApplyError>> {
    let mut formats: HashMap<Format, StoredFormat> =
        stored.into_iter().map(|stored| (stored.format.clone(), stored)).collect();
    let mut pools = vec![];
    for Asked { product, coupon, more } in products.iter().filter_map(|p| asked(p, known)) {
        let sku = || product.rules.sku.clone();
        if let Some(other) = formats.keys().find(|f| **f != coupon.format && f.collides(&coupon.format)) {
            return Ok(Err(ApplyError::Collides { sku: sku(), other: other.clone() }));
        }
        if !formats.contains_key(&coupon.format) {
            let key = mint.format_key(&coupon.format)?;
            tx.formats_put(&[(coupon.format.clone(), key.clone())]).await?;
            let new = StoredFormat { format: coupon.format.clone(), key, taken: 0 };
            formats.insert(coupon.format.clone(), new);
        }
        let Some(stored) = formats.get_mut(&coupon.format) else { continue };
        let free = coupon.format.codes_max() - stored.taken;
        if more > free {
            return Ok(Err(ApplyError::TooMany {
                sku: sku(),
                format: coupon.format.clone(),
                free: free.max(0),
            }));
        }
        if changed(product, coupon, known) {
            // Codes of the former format are sold to nobody.
            void_unissued(tx, product.id, actor, "the coupon has another format").await?;
        }
        let indexes = (stored.taken, more);
        pools.push(mint.pool(product.id, &coupon.format, indexes, coupon.expires_at, tx.now())?);
        stored.taken += more;
    }
    if !pools.is_empty() {
        tx.pools_open(&pools).await?;
    }
    Ok(Ok(()))
}

fn asked<'p>(product: &'p Product, known: &HashMap<Sku, Product>) -> Option<Asked<'p>> {
    let coupon = product.rules.kind.coupon()?;
    let made = match known.get(&product.rules.sku).and_then(|old| old.rules.kind.coupon()) {
        Some(old) if old.format == coupon.format => old.count,
        Some(_) | None => 0,
    };
    (coupon.count > made).then_some(Asked { product, coupon, more: coupon.count - made })
}

/// Whether codes of another format were made, of which none was sold.
fn changed(product: &Product, coupon: &Coupon, known: &HashMap<Sku, Product>) -> bool {
    let old = known.get(&product.rules.sku).and_then(|old| old.rules.kind.coupon());
    old.is_some_and(|old| old.format != coupon.format)
}
