//! Coupon formats and pools. See [`CouponOps`].

use async_trait::async_trait;
use tessera_model::coupon::Format;
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::keys::WrappedKey;
use tessera_model::time::Timestamp;
use tessera_store::Result;
use tessera_store::coupons::{CouponOps, NewPool, PoolAt, StoredFormat};

use crate::batches::{reading, wrapped};
use crate::encode::{hex, id, set};
use crate::row::Fields;
use crate::tx::SqliteTx;

const PUT: &str = "\
    INSERT INTO coupon_format (format, key_id, wrapped)
    SELECT value->>0, value->>1, unhex(value->>2) FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING";
const PUT_ANCHOR: &str = "\
    INSERT INTO pool (format, start, upto, batch)
    SELECT value->>0, NULL, 0, NULL FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING";
const READ: &str = "\
    SELECT format, key_id, wrapped, (SELECT max(upto) FROM pool WHERE pool.format = f.format) AS taken
    FROM coupon_format f ORDER BY format";
const OPEN_BATCH: &str = "\
    INSERT INTO batch (id, product, kind, state, size, pick, format, key_id, wrapped, expires_at, issued,
        created_at, opened_at)
    SELECT unhex(value->>0), unhex(value->>1), 'pool', 'open', value->>4, 'random', value->>2, value->>5,
        unhex(value->>6), value->>7, 0, ?2, ?2
    FROM json_each(?1)";
const OPEN_ANCHOR: &str = "\
    INSERT INTO span (batch, start, upto, size, kind)
    SELECT unhex(value->>0), NULL, 0, value->>4, 'anchor' FROM json_each(?1)";
const OPEN: &str = "\
    INSERT INTO pool (format, start, upto, batch)
    SELECT value->>2, value->>3, value->>3 + value->>4, unhex(value->>0) FROM json_each(?1) ORDER BY key";
const AT: &str = "\
    SELECT o.start AS pool_from, j.value->>1 AS wanted, b.*
    FROM json_each(?1) j
    JOIN pool o ON o.format = j.value->>0 AND o.start <= j.value->>1 AND o.upto > j.value->>1
    JOIN batch_reading b ON b.id = o.batch";
const STOCKED: &str = "\
    SELECT DISTINCT product FROM batch WHERE product IN (SELECT unhex(value) FROM json_each(?1))";
const VOID_SPAN: &str = "\
    INSERT INTO span (batch, start, upto, size, kind)
    SELECT id, issued, size, size, 'void' FROM batch WHERE product = ?1 AND state = 'open'
    RETURNING batch, upto";
const VOID: &str = "\
    UPDATE batch SET issued = size, state = 'closed', closed_at = ?2 WHERE product = ?1 AND state = 'open'";

fn format(fields: &Fields<'_>) -> Result<StoredFormat> {
    Ok(StoredFormat {
        format: fields.parse("format", |t| Format::parse(t).ok())?,
        key: wrapped(fields, "key_id", "wrapped")?,
        taken: fields.get("taken")?,
    })
}

fn pool_at(fields: &Fields<'_>) -> Result<PoolAt> {
    let (from, wanted): (i64, i64) = (fields.get("pool_from")?, fields.get("wanted")?);
    Ok(PoolAt {
        product: fields.id("product", ProductId::from_uuid)?,
        position: wanted - from,
        batch: reading(fields)?,
    })
}

#[async_trait]
impl CouponOps for SqliteTx {
    async fn formats_put(&mut self, formats: &[(Format, WrappedKey)]) -> Result<()> {
        let rows = set(formats.iter().map(|(f, key)| (f.as_str(), key.key.as_str(), hex(&key.bytes))))?;
        self.execute(sqlx::query(PUT).bind(rows.clone())).await?;
        self.execute(sqlx::query(PUT_ANCHOR).bind(rows)).await.map(drop)
    }

    async fn formats_lock(&mut self) -> Result<Vec<StoredFormat>> {
        self.formats_read().await
    }

    async fn formats_read(&mut self) -> Result<Vec<StoredFormat>> {
        self.read(sqlx::query(READ), "coupon_format", format).await
    }

    async fn pools_open(&mut self, pools: &[NewPool]) -> Result<()> {
        let rows = set(pools.iter().map(|p| {
            let (key, sealed) = (p.key.key.as_str(), hex(&p.key.bytes));
            let expires = p.expires_at.map(Timestamp::micros);
            (id(p.id.uuid()), id(p.product.uuid()), p.format.as_str(), p.start, p.size, key, sealed, expires)
        }))?;
        let now = self.time().micros();
        self.execute(sqlx::query(OPEN_BATCH).bind(rows.clone()).bind(now)).await?;
        self.execute(sqlx::query(OPEN_ANCHOR).bind(rows.clone())).await?;
        self.execute(sqlx::query(OPEN).bind(rows)).await.map(drop)
    }

    async fn pools_at(&mut self, at: &[(Format, i64)]) -> Result<Vec<PoolAt>> {
        let at = set(at.iter().map(|(format, index)| (format.as_str(), index)))?;
        self.read(sqlx::query(AT).bind(at), "pool", pool_at).await
    }

    async fn products_stocked(&mut self, products: &[ProductId]) -> Result<Vec<ProductId>> {
        let products = set(products.iter().map(|p| id(p.uuid())))?;
        let stocked = sqlx::query(STOCKED).bind(products);
        self.read(stocked, "batch", |f| f.id("product", ProductId::from_uuid)).await
    }

    async fn batches_void_rest(&mut self, product: ProductId) -> Result<Vec<(BatchId, i64)>> {
        let voided = |f: &Fields<'_>| Ok((f.id("batch", BatchId::from_uuid)?, f.get("upto")?));
        let voided = self.read(sqlx::query(VOID_SPAN).bind(product.uuid()), "span", voided).await?;
        let void = sqlx::query(VOID).bind(product.uuid()).bind(self.time().micros());
        self.execute(void).await?;
        Ok(voided)
    }
}
