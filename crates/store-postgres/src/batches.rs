//! Batches, codes and spans. See [`BatchOps`].

use async_trait::async_trait;
use tessera_model::batch::OpenBatch;
use tessera_model::coupon::Format;
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::keys::{Fingerprint, KeyId, Sealed, WrappedKey};
use tessera_model::product::Pick;
use tessera_model::span::{Owner, Span};
use tessera_model::text::Sku;
use tessera_store::batches::{BatchOps, BatchReading, CodeSource, IssuedSpan, KnownCode, NewBatch, NewCode};
use tessera_store::{Result, StoreError};

use crate::encode::{At, column};
use crate::orders::ids;
use crate::row::Fields;
use crate::tx::{PostgresTx, Statement};

mod sql;

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
    Ok(OpenBatch {
        id: fields.id("id", BatchId::from_uuid)?,
        product: fields.id("product", ProductId::from_uuid)?,
        size: fields.get("size")?,
        issued: fields.get("issued")?,
        voided: fields.get("voided")?,
    })
}

fn places(fields: &Fields<'_>, column: &str) -> Result<Vec<i64>> {
    fields.get(column)
}

fn issued(fields: &Fields<'_>) -> Result<IssuedSpan> {
    let owner = Owner {
        order: fields.id("order_id", OrderId::from_uuid)?,
        line: fields.small("line")?,
        part: fields.small("part")?,
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

/// The columns of [`sql::APPEND`], in its order.
fn append(spans: &[Span]) -> Statement {
    sqlx::query(sql::APPEND)
        .bind(column(spans, |s| s.batch.uuid()))
        .bind(column(spans, |s| s.start))
        .bind(column(spans, |s| s.upto))
        .bind(column(spans, |s| s.size))
        .bind(column(spans, |s| s.kind.as_str()))
        .bind(column(spans, |s| s.owner.map(|o| o.order.uuid())))
        .bind(column(spans, |s| s.owner.map(|o| i64::from(o.line))))
        .bind(column(spans, |s| s.owner.map(|o| i64::from(o.part))))
}

#[async_trait]
impl BatchOps for PostgresTx {
    async fn batches_open_of(&mut self, products: &[ProductId]) -> Result<Vec<OpenBatch>> {
        let products = column(products, |p| p.uuid());
        // Locked by id and read by use, in a statement that sees what the locks' last holder did.
        self.lock(sqlx::query(sql::OPEN_LOCK).bind(products.clone())).await?;
        self.read(sqlx::query(sql::OPEN_OF).bind(products), "batch", open).await
    }

    async fn batches_advance(&mut self, moved: &[(BatchId, i64)]) -> Result<()> {
        let batches = column(moved, |(batch, _)| batch.uuid());
        let advance = sqlx::query(sql::ADVANCE).bind(batches).bind(column(moved, |(_, upto)| *upto));
        self.execute(advance.bind(self.at())).await.map(drop)
    }

    async fn spans_append(&mut self, spans: &[Span]) -> Result<()> {
        self.execute(append(spans)).await.map(drop)
    }

    async fn spans_of(&mut self, orders: &[OrderId]) -> Result<Vec<IssuedSpan>> {
        self.read(sqlx::query(sql::SPANS_OF).bind(ids(orders)), "span", issued).await
    }

    async fn codes_read(&mut self, ranges: &[(BatchId, i64, i64)]) -> Result<Vec<(BatchId, i64, Sealed)>> {
        let codes = sqlx::query(sql::CODES)
            .bind(column(ranges, |(batch, ..)| batch.uuid()))
            .bind(column(ranges, |(_, from, _)| *from))
            .bind(column(ranges, |(.., upto)| *upto));
        self.read(codes, "code", |f| {
            Ok((f.id("batch", BatchId::from_uuid)?, f.get("position")?, f.get("sealed")?))
        })
        .await
    }

    async fn batches_begin(&mut self, batch: &NewBatch) -> Result<()> {
        let begin = sqlx::query(sql::BEGIN)
            .bind(batch.id.uuid())
            .bind(batch.product.uuid())
            .bind(batch.pick.as_str())
            .bind(batch.key.key.as_str().to_owned())
            .bind(batch.key.bytes.clone())
            .bind(self.at())
            .bind(batch.bought.supplier.as_ref().map(ToString::to_string))
            .bind(batch.bought.cost_minor)
            .bind(batch.bought.expires_at.map(At));
        self.execute(begin).await.map(drop)
    }

    async fn codes_insert(&mut self, batch: BatchId, codes: &[NewCode]) -> Result<()> {
        if codes.is_empty() {
            return Ok(());
        }
        // Whoever opens the batch waits for this lock, or has opened it before.
        let loading = self.one(sqlx::query(sql::LOADING_KEPT).bind(batch.uuid())).await?;
        loading.ok_or_else(not_loading)?;
        let insert = sqlx::query(sql::INSERT)
            .bind(batch.uuid())
            .bind(column(codes, |c| c.position))
            .bind(column(codes, |c| c.sealed.as_slice()))
            .bind(column(codes, |c| c.fingerprint.bytes().as_slice()));
        self.execute(insert).await.map(drop)
    }

    async fn codes_known(&mut self, fingerprints: &[Fingerprint]) -> Result<Vec<KnownCode>> {
        let fingerprints = column(fingerprints, |f| f.bytes().as_slice());
        self.read(sqlx::query(sql::KNOWN).bind(fingerprints), "code", known).await
    }

    async fn batches_open(&mut self, batch: BatchId, size: i64) -> Result<()> {
        // Locked first: no code may come between the count and the opening.
        let loading = self.one(sqlx::query(sql::LOADING_LOCK).bind(batch.uuid())).await?;
        self.unhurried().await?;
        let row = self.one(sqlx::query(sql::COUNT).bind(batch.uuid())).await?;
        let fields = row.as_ref().map(|r| Fields::of(r, "code"));
        let (codes, last): (i64, Option<i64>) = match fields {
            Some(f) => (f.get("codes")?, f.get("last")?),
            None => (0, None),
        };
        if codes != size || last != Some(size - 1) {
            return Err(StoreError::Data(format!("the batch holds {codes} codes, not {size} in a row")));
        }
        loading.ok_or_else(not_loading)?;
        let open = sqlx::query(sql::OPEN).bind(batch.uuid()).bind(size).bind(self.at());
        self.execute(open).await?;
        self.execute(sqlx::query(sql::ANCHOR).bind(batch.uuid()).bind(size)).await.map(drop)
    }

    async fn batches_loading(&mut self) -> Result<Vec<BatchId>> {
        self.read(sqlx::query(sql::LOADING), "batch", |f| f.id("id", BatchId::from_uuid)).await
    }

    async fn batches_discard(&mut self, batch: BatchId, limit: i64) -> Result<bool> {
        let loading = self.one(sqlx::query(sql::LOADING_LOCK).bind(batch.uuid())).await?;
        if loading.is_none() {
            return Ok(true);
        }
        self.execute(sqlx::query(sql::DISCARD_CODES).bind(batch.uuid()).bind(limit)).await?;
        self.execute(sqlx::query(sql::DISCARD).bind(batch.uuid())).await.map(|gone| gone == 1)
    }
}
