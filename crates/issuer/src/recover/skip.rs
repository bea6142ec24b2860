//! What may have been given out of coupon pools that a copy does not know: they took the indexes that follow the known ones.

use std::collections::HashMap;

use tessera_model::coupon::Format;
use tessera_model::product::Product;
use tessera_model::span::{Span, SpanKind};
use tessera_store::coupons::{NewPool, StoredFormat};
use tessera_store::{Result, Tx};

use super::{Recover, Recovered, SKIP, burn};
use crate::rounds::Mint;

/// Of what is left of a format, the part that is left out unasked.
const PART: i64 = 10;

/// Takes the next indexes of each format that a product has, as a pool that is burned as a whole.
pub(super) async fn formats(
    tx: &mut dyn Tx,
    mint: &Mint,
    products: &[Product],
    (formats, wish): (Vec<StoredFormat>, &Recover),
    done: &mut Recovered,
) -> Result<()> {
    let coupons = products.iter().filter_map(|p| Some((&p.rules.kind.coupon()?.format, p)));
    let coupons: HashMap<&Format, &Product> = coupons.collect();
    let seen: i64 = done.lost.iter().map(|(_, count)| count).sum();
    for stored in formats {
        let Some(product) = coupons.get(&stored.format) else { continue };
        let left = (stored.format.codes_max() - stored.taken).max(0);
        let size = wish.skip.unwrap_or((left / PART).min(SKIP)).max(seen).min(left);
        if size > 0 {
            let pool = mint.pool(product.id, &stored.format, (stored.taken, size), None, tx.now())?;
            burned(tx, &pool, wish).await?;
            done.skipped.push((stored.format, size));
        }
    }
    Ok(())
}

async fn burned(tx: &mut dyn Tx, pool: &NewPool, wish: &Recover) -> Result<()> {
    let NewPool { id: batch, size, .. } = *pool;
    tx.pools_open(std::slice::from_ref(pool)).await?;
    tx.spans_append(&[Span { batch, start: 0, upto: size, size, kind: SpanKind::Burn, owner: None }]).await?;
    tx.spans_explain(&[burn::cause(batch, size, wish)]).await?;
    tx.batches_advance(&[(batch, size)]).await
}
