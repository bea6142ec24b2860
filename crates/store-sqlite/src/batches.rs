//! Batches, codes and spans. See [`BatchOps`].

use async_trait::async_trait;
use tessera_model::batch::OpenBatch;
use tessera_model::coupon::Format;
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::keys::{Fingerprint, KeyId, Sealed, WrappedKey};
use tessera_model::product::Pick;
use tessera_model::span::{Owner, Span};
use tessera_model::text::Sku;
use tessera_model::time::Timestamp;
use tessera_store::batches::{BatchOps, BatchReading, CodeSource, IssuedSpan, KnownCode, NewBatch, NewCode};
use tessera_store::{Result, StoreError};

use crate::encode::{hex, id, set};
use crate::row::Fields;
use crate::tx::SqliteTx;

const OPEN_OF: &str = "\
    SELECT b.id, b.product, b.size, b.issued, (SELECT json_group_array(v.position) FROM (
        SELECT position FROM voided_position WHERE batch = b.id AND position >= b.issued ORDER BY position) v
    ) AS voided
    FROM json_each(?1) j JOIN batch b ON b.product = unhex(j.value)
    WHERE b.state = 'open' AND b.kind <> 'round'
    ORDER BY b.product, b.expires_at IS NULL, b.expires_at, b.opened_at, b.id";
const ADVANCE: &str = "\
    UPDATE batch SET issued = moved.upto, state = iif(moved.upto = size, 'closed', state),
        closed_at = iif(moved.upto = size, ?2, closed_at)
    FROM (SELECT unhex(value->>0) AS id, value->>1 AS upto FROM json_each(?1)) AS moved
    WHERE batch.id = moved.id";
const APPEND: &str = "\
    INSERT INTO span (batch, start, upto, size, kind, order_id, line, part)
    SELECT unhex(value->>0), value->>1, value->>2, value->>3, value->>4, unhex(value->>5), value->>6, value->>7
    FROM json_each(?1) ORDER BY key";
const SPANS_OF: &str = "\
    SELECT s.order_id, s.line, s.part, s.start, s.upto, (SELECT json_group_array(v.position) FROM voided_position v
            WHERE v.batch = s.batch AND v.position >= s.start AND v.position < s.upto) AS voided,
        (SELECT json_group_array(v.position) FROM voided_position v
            WHERE v.batch = s.batch AND v.position >= s.start AND v.position < s.upto AND v.part IS NOT NULL) AS replaced, b.*
    FROM json_each(?1) j JOIN span s ON s.order_id = unhex(j.value) JOIN batch_reading b ON b.id = s.batch
    ORDER BY s.order_id, s.line, s.part";
const CODES: &str = "\
    SELECT c.batch, c.position, c.sealed FROM json_each(?1) j
    JOIN code c ON c.batch = unhex(j.value->>0) AND c.position >= j.value->>1 AND c.position < j.value->>2";
const BEGIN: &str = "\
    INSERT INTO batch (id, product, kind, state, pick, key_id, wrapped, created_at, supplier, cost_minor, expires_at)
    VALUES (?1, ?2, 'import', 'loading', ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const INSERT: &str = "\
    INSERT INTO code (batch, position, sealed, fingerprint)
    SELECT ?2, value->>0, unhex(value->>1), unhex(value->>2) FROM json_each(?1)
    WHERE (SELECT state FROM batch WHERE id = ?2) = 'loading' ORDER BY key";
const KNOWN: &str = "\
    SELECT c.fingerprint, c.position, p.sku, b.*
    FROM json_each(?1) j JOIN code c ON c.fingerprint = unhex(j.value)
    JOIN batch_reading b ON b.id = c.batch JOIN product p ON p.id = b.product";
const COUNT: &str = "SELECT count(*) AS codes, max(position) AS last FROM code WHERE batch = ?1";
const OPEN: &str = "\
    UPDATE batch SET state = 'open', size = ?2, issued = 0, opened_at = ?3 WHERE id = ?1 AND state = 'loading'";
const ANCHOR: &str = "INSERT INTO span (batch, start, upto, size, kind) VALUES (?1, NULL, 0, ?2, 'anchor')";
const LOADING: &str = "SELECT id FROM batch WHERE state = 'loading' ORDER BY created_at";
const DISCARD_CODES: &str = "\
    DELETE FROM code WHERE batch = ?1
    AND position IN (SELECT position FROM code WHERE batch = ?1 ORDER BY position LIMIT ?2)
    AND EXISTS (SELECT 1 FROM batch WHERE id = ?1 AND state = 'loading')";
const DISCARD: &str = "\
    DELETE FROM batch WHERE id = ?1 AND state = 'loading'
    AND NOT EXISTS (SELECT 1 FROM code WHERE batch = ?1)";
const IS_LOADING: &str = "SELECT 1 FROM batch WHERE id = ?1 AND state = 'loading'";

/// What it takes to read a batch's codes, of a row of `batch_reading`.
pub(crate) fn reading(fields: &Fields<'_>) -> Result<BatchReading> {
    Ok(BatchReading {
        id: fields.id("id", BatchId::from_uuid)?,
        size: fields.get("size")?,
        pick: fields.parse("pick", Pick::parse)?,
        key: wrapped(fields, "key_id", "wrapped")?,
        source: source(fields)?,
    })
}

fn source(fields: &Fields<'_>) -> Result<CodeSource> {
    match fields.get("kind")? {
        "import" => Ok(CodeSource::Stored),
        "pool" => Ok(CodeSource::Pool {
            format: fields.parse("format", |t| Format::parse(t).ok())?,
            key: wrapped(fields, "format_key_id", "format_wrapped")?,
            start: fields.get("pool_start")?,
        }),
        "round" => Ok(CodeSource::Round {
            product: fields.id("product", ProductId::from_uuid)?,
            key: wrapped(fields, "raffle_key_id", "raffle_wrapped")?,
            number: fields.get("round_number")?,
            first_number: fields.get("round_first")?,
        }),
        _ => Err(fields.inconsistent("kind")),
    }
}

/// A wrapped key and the id of what wrapped it.
pub(crate) fn wrapped(fields: &Fields<'_>, id: &str, bytes: &str) -> Result<WrappedKey> {
    Ok(WrappedKey { key: fields.parse(id, KeyId::parse)?, bytes: fields.get(bytes)? })
}

pub(crate) fn open(fields: &Fields<'_>) -> Result<OpenBatch> {
    let voided = serde_json::from_str(fields.get("voided")?).map_err(|_| fields.inconsistent("voided"))?;
    Ok(OpenBatch {
        id: fields.id("id", BatchId::from_uuid)?,
        product: fields.id("product", ProductId::from_uuid)?,
        size: fields.get("size")?,
        issued: fields.get("issued")?,
        voided,
    })
}

fn places(fields: &Fields<'_>, column: &str) -> Result<Vec<i64>> {
    serde_json::from_str(fields.get(column)?).map_err(|_| fields.inconsistent(column))
}

fn issued(fields: &Fields<'_>) -> Result<IssuedSpan> {
    let owner = Owner {
        order: fields.id("order_id", OrderId::from_uuid)?,
        line: fields.integer("line")?,
        part: fields.integer("part")?,
    };
    Ok(IssuedSpan {
        owner,
        start: fields.get("start")?,
        upto: fields.get("upto")?,
        voided: places(fields, "voided")?,
        replaced: places(fields, "replaced")?,
        batch: reading(fields)?,
    })
}

fn known(fields: &Fields<'_>) -> Result<KnownCode> {
    Ok(KnownCode {
        fingerprint: Fingerprint::from_bytes(fields.bytes("fingerprint")?),
        sku: fields.parse("sku", |t| Sku::parse(t).ok())?,
        position: fields.get("position")?,
        issued: fields.get("issued")?,
        batch: reading(fields)?,
    })
}

fn not_loading() -> StoreError {
    StoreError::Data("the batch is not loading".to_owned())
}

#[async_trait]
impl BatchOps for SqliteTx {
    async fn batches_open_of(&mut self, products: &[ProductId]) -> Result<Vec<OpenBatch>> {
        let products = set(products.iter().map(|p| id(p.uuid())))?;
        self.read(sqlx::query(OPEN_OF).bind(products), "batch", open).await
    }

    async fn batches_advance(&mut self, moved: &[(BatchId, i64)]) -> Result<()> {
        let moved = set(moved.iter().map(|(batch, upto)| (id(batch.uuid()), upto)))?;
        self.execute(sqlx::query(ADVANCE).bind(moved).bind(self.time().micros())).await.map(drop)
    }

    async fn spans_append(&mut self, spans: &[Span]) -> Result<()> {
        let rows = set(spans.iter().map(|s| {
            let owner = s.owner.map(|o| (id(o.order.uuid()), o.line, o.part));
            let (order, line, part) = match owner {
                Some((order, line, part)) => (Some(order), Some(line), Some(part)),
                None => (None, None, None),
            };
            (id(s.batch.uuid()), s.start, s.upto, s.size, s.kind.as_str(), order, line, part)
        }))?;
        self.execute(sqlx::query(APPEND).bind(rows)).await.map(drop)
    }

    async fn spans_of(&mut self, orders: &[OrderId]) -> Result<Vec<IssuedSpan>> {
        let orders = set(orders.iter().map(|o| id(o.uuid())))?;
        self.read(sqlx::query(SPANS_OF).bind(orders), "span", issued).await
    }

    async fn codes_read(&mut self, ranges: &[(BatchId, i64, i64)]) -> Result<Vec<(BatchId, i64, Sealed)>> {
        let ranges = set(ranges.iter().map(|(batch, from, upto)| (id(batch.uuid()), from, upto)))?;
        self.read(sqlx::query(CODES).bind(ranges), "code", |f| {
            Ok((f.id("batch", BatchId::from_uuid)?, f.get("position")?, f.get("sealed")?))
        })
        .await
    }

    async fn batches_begin(&mut self, batch: &NewBatch) -> Result<()> {
        let begin = sqlx::query(BEGIN)
            .bind(batch.id.uuid())
            .bind(batch.product.uuid())
            .bind(batch.pick.as_str())
            .bind(batch.key.key.as_str().to_owned())
            .bind(batch.key.bytes.clone())
            .bind(self.time().micros())
            .bind(batch.bought.supplier.as_ref().map(ToString::to_string))
            .bind(batch.bought.cost_minor)
            .bind(batch.bought.expires_at.map(Timestamp::micros));
        self.execute(begin).await.map(drop)
    }

    async fn codes_insert(&mut self, batch: BatchId, codes: &[NewCode]) -> Result<()> {
        let rows = set(codes.iter().map(|c| (c.position, hex(&c.sealed), hex(c.fingerprint.bytes()))))?;
        let stored = self.execute(sqlx::query(INSERT).bind(rows).bind(batch.uuid())).await?;
        match usize::try_from(stored) == Ok(codes.len()) {
            true => Ok(()),
            false => Err(not_loading()),
        }
    }

    async fn codes_known(&mut self, fingerprints: &[Fingerprint]) -> Result<Vec<KnownCode>> {
        let fingerprints = set(fingerprints.iter().map(|f| hex(f.bytes())))?;
        self.read(sqlx::query(KNOWN).bind(fingerprints), "code", known).await
    }

    async fn batches_open(&mut self, batch: BatchId, size: i64) -> Result<()> {
        let row = self.one(sqlx::query(COUNT).bind(batch.uuid())).await?;
        let fields = row.as_ref().map(|r| Fields::of(r, "code"));
        let (codes, last): (i64, Option<i64>) = match fields {
            Some(f) => (f.get("codes")?, f.get("last")?),
            None => (0, None),
        };
        if codes != size || last != Some(size - 1) {
            return Err(StoreError::Data(format!("the batch holds {codes} codes, not {size} in a row")));
        }
        let open = sqlx::query(OPEN).bind(batch.uuid()).bind(size).bind(self.time().micros());
        match self.execute(open).await? {
            1 => self.execute(sqlx::query(ANCHOR).bind(batch.uuid()).bind(size)).await.map(drop),
            _ => Err(not_loading()),
        }
    }

    async fn batches_loading(&mut self) -> Result<Vec<BatchId>> {
        self.read(sqlx::query(LOADING), "batch", |f| f.id("id", BatchId::from_uuid)).await
    }

    async fn batches_discard(&mut self, batch: BatchId, limit: i64) -> Result<bool> {
        self.execute(sqlx::query(DISCARD_CODES).bind(batch.uuid()).bind(limit)).await?;
        self.execute(sqlx::query(DISCARD).bind(batch.uuid())).await?;
        self.one(sqlx::query(IS_LOADING).bind(batch.uuid())).await.map(|row| row.is_none())
    }
}
