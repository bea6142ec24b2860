//! Coupon formats and pools. See [`CouponOps`].

use async_trait::async_trait;
use tessera_model::coupon::Format;
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::keys::WrappedKey;
use tessera_store::Result;
use tessera_store::coupons::{CouponOps, NewPool, PoolAt, StoredFormat};

use crate::batches::{reading, wrapped};
use crate::encode::{At, column};
use crate::row::Fields;
use crate::tx::{PostgresTx, Statement};

/// The columns of a set of pools to open.
macro_rules! opened {
    () => {
        "FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::bytea[], \
            $9::timestamptz[]) WITH ORDINALITY \
            AS j(id, product, format, start, size, key_id, wrapped, expires_at, n) WHERE $1::timestamptz IS NOT NULL"
    };
}

const PUT: &str = "\
    INSERT INTO coupon_format (format, key_id, wrapped)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[]) ON CONFLICT DO NOTHING";
const PUT_ANCHOR: &str = "\
    INSERT INTO pool (format, start, upto, batch) SELECT format, NULL, 0, NULL FROM unnest($1::text[]) AS j(format)
    ON CONFLICT DO NOTHING";
/// Two that open pools, of whatever formats, wait for each other.
const LOCK: &str = "LOCK TABLE coupon_format IN SHARE ROW EXCLUSIVE MODE";
const READ: &str = "\
    SELECT format, key_id, wrapped, (SELECT max(upto) FROM pool WHERE pool.format = f.format) AS taken
    FROM coupon_format f ORDER BY format";
const OPEN_BATCH: &str = concat!(
    "INSERT INTO batch (id, product, kind, state, size, pick, format, key_id, wrapped, expires_at, issued, \
        created_at, opened_at) \
     SELECT id, product, 'pool', 'open', size, 'random', format, key_id, wrapped, expires_at, 0, $1, $1 ",
    opened!()
);
const OPEN_ANCHOR: &str = concat!(
    "INSERT INTO span (batch, start, upto, size, kind) SELECT id, NULL, 0, size, 'anchor' ",
    opened!()
);
const OPEN: &str = concat!(
    "INSERT INTO pool (format, start, upto, batch) SELECT format, start, start + size, id ",
    opened!(),
    " ORDER BY n"
);
const AT: &str = "\
    SELECT o.start AS pool_from, j.wanted, b.*
    FROM unnest($1::text[], $2::bigint[]) AS j(format, wanted)
    JOIN pool o ON o.format = j.format AND o.start <= j.wanted AND o.upto > j.wanted
    JOIN batch_reading b ON b.id = o.batch";
const STOCKED: &str = "SELECT DISTINCT product FROM batch WHERE product = ANY($1)";
const VOID_LOCK: &str =
    "SELECT 1 FROM batch WHERE product = $1 AND state = 'open' ORDER BY id FOR NO KEY UPDATE";
const VOID_SPAN: &str = "\
    INSERT INTO span (batch, start, upto, size, kind)
    SELECT id, issued, size, size, 'void' FROM batch WHERE product = $1 AND state = 'open'
    RETURNING batch, upto";
const VOID: &str = "\
    UPDATE batch SET issued = size, state = 'closed', closed_at = $2 WHERE product = $1 AND state = 'open'";

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

fn opened(statement: &'static str, pools: &[NewPool], now: At) -> Statement {
    sqlx::query(statement)
        .bind(now)
        .bind(column(pools, |p| p.id.uuid()))
        .bind(column(pools, |p| p.product.uuid()))
        .bind(column(pools, |p| p.format.as_str().to_owned()))
        .bind(column(pools, |p| p.start))
        .bind(column(pools, |p| p.size))
        .bind(column(pools, |p| p.key.key.as_str().to_owned()))
        .bind(column(pools, |p| p.key.bytes.clone()))
        .bind(column(pools, |p| p.expires_at.map(At)))
}

#[async_trait]
impl CouponOps for PostgresTx {
    async fn formats_put(&mut self, formats: &[(Format, WrappedKey)]) -> Result<()> {
        let names = column(formats, |(format, _)| format.as_str().to_owned());
        let put = sqlx::query(PUT)
            .bind(names.clone())
            .bind(column(formats, |(_, key)| key.key.as_str().to_owned()))
            .bind(column(formats, |(_, key)| key.bytes.clone()));
        self.execute(put).await?;
        self.execute(sqlx::query(PUT_ANCHOR).bind(names)).await.map(drop)
    }

    async fn formats_lock(&mut self) -> Result<Vec<StoredFormat>> {
        self.execute(sqlx::query(LOCK)).await?;
        self.formats_read().await
    }

    async fn formats_read(&mut self) -> Result<Vec<StoredFormat>> {
        self.read(sqlx::query(READ), "coupon_format", format).await
    }

    async fn pools_open(&mut self, pools: &[NewPool]) -> Result<()> {
        for statement in [OPEN_BATCH, OPEN_ANCHOR, OPEN] {
            self.execute(opened(statement, pools, self.at())).await?;
        }
        Ok(())
    }

    async fn pools_at(&mut self, at: &[(Format, i64)]) -> Result<Vec<PoolAt>> {
        let formats = column(at, |(format, _)| format.as_str().to_owned());
        let at = sqlx::query(AT).bind(formats).bind(column(at, |(_, index)| *index));
        self.read(at, "pool", pool_at).await
    }

    async fn products_stocked(&mut self, products: &[ProductId]) -> Result<Vec<ProductId>> {
        let stocked = sqlx::query(STOCKED).bind(column(products, |p| p.uuid()));
        self.read(stocked, "batch", |f| f.id("product", ProductId::from_uuid)).await
    }

    async fn batches_void_rest(&mut self, product: ProductId) -> Result<Vec<(BatchId, i64)>> {
        self.lock(sqlx::query(VOID_LOCK).bind(product.uuid())).await?;
        let voided = |f: &Fields<'_>| Ok((f.id("batch", BatchId::from_uuid)?, f.get("upto")?));
        let voided = self.read(sqlx::query(VOID_SPAN).bind(product.uuid()), "span", voided).await?;
        let void = sqlx::query(VOID).bind(product.uuid()).bind(self.at());
        self.execute(void).await?;
        Ok(voided)
    }
}
