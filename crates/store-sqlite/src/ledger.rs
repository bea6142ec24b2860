//! The ledger. See [`LedgerOps`].

use async_trait::async_trait;
use tessera_model::batch::BatchState;
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::order::OrderStatus;
use tessera_model::product::Pick;
use tessera_model::span::{Owner, SpanKind};
use tessera_model::text::Sku;
use tessera_model::time::Timestamp;
use tessera_store::Result;
use tessera_store::batches::BatchReading;
use tessera_store::ledger::{
    BatchRecord, Claimant, Covered, LedgerOps, Movement, MovementFilter, MovementKind, NewVoid, SpanCause,
    VoidedPlace,
};

use crate::batches::reading;
use crate::encode::{id, set};
use crate::row::Fields;
use crate::tx::SqliteTx;

mod sql;
pub(crate) use sql::{ahead, skipped, taken};

fn record(fields: &Fields<'_>) -> Result<BatchRecord> {
    Ok(BatchRecord {
        id: fields.id("id", BatchId::from_uuid)?,
        product: fields.id("product", ProductId::from_uuid)?,
        sku: fields.parse("sku", |t| Sku::parse(t).ok())?,
        kind: fields.get("kind")?,
        state: fields.parse("state", BatchState::parse)?,
        pick: fields.parse("pick", Pick::parse)?,
        size: fields.get("size")?,
        unissued: fields.get("unissued")?,
        issued: fields.get("issued")?,
        voided: fields.get("voided")?,
        supplier: fields.get("supplier")?,
        cost_minor: fields.get("cost_minor")?,
        expires_at: fields.optional_time("expires_at")?,
        created_at: fields.time("created_at")?,
        opened_at: fields.optional_time("opened_at")?,
        closed_at: fields.optional_time("closed_at")?,
    })
}

/// Whose a span is, if it is anybody's.
fn owner(fields: &Fields<'_>) -> Result<Option<Owner>> {
    let Some(order) = fields.optional_id("order_id", OrderId::from_uuid)? else { return Ok(None) };
    Ok(Some(Owner { order, line: fields.integer("line")?, part: fields.integer("part")? }))
}

fn covered(fields: &Fields<'_>) -> Result<Covered> {
    Ok(Covered {
        batch: fields.id("batch", BatchId::from_uuid)?,
        place: fields.get("place")?,
        kind: fields.parse("kind", SpanKind::parse)?,
        owner: owner(fields)?,
    })
}

fn voided(fields: &Fields<'_>) -> Result<VoidedPlace> {
    Ok(VoidedPlace {
        batch: fields.id("batch", BatchId::from_uuid)?,
        place: fields.get("position")?,
        part: fields.get("part")?,
    })
}

fn movement(fields: &Fields<'_>) -> Result<Movement> {
    Ok(Movement {
        what: fields.parse("kind", SpanKind::parse).map(MovementKind::from)?,
        at: fields.optional_time("at")?,
        quantity: fields.get("quantity")?,
        sku: fields.parse("sku", |t| Sku::parse(t).ok())?,
        batch: fields.id("batch", BatchId::from_uuid)?,
        start: fields.get("start")?,
        upto: fields.get("upto")?,
        owner: owner(fields)?,
        actor: fields.get("actor")?,
        reason: fields.get("reason")?,
    })
}

/// Two lists in one order, cut at `limit`; what ends where the last one ends stays with it.
fn merged(spans: Vec<Movement>, mut movements: Vec<Movement>, limit: i64) -> Vec<Movement> {
    // A place is voided after the span that ends with it.
    movements.extend(spans);
    movements.sort_by_key(|m| std::cmp::Reverse((m.batch, m.upto)));
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let last = movements.get(limit.saturating_sub(1)).map(|m| (m.batch, m.upto));
    let kept = last.map_or(movements.len(), |last| movements.partition_point(|m| (m.batch, m.upto) >= last));
    movements.truncate(kept);
    movements
}

fn claimant(fields: &Fields<'_>) -> Result<Claimant> {
    Ok(Claimant {
        order: fields.id("id", OrderId::from_uuid)?,
        status: fields.parse("status", OrderStatus::parse)?,
        quantity: fields.get("quantity")?,
    })
}

fn places(places: &[(BatchId, i64)]) -> Result<String> {
    set(places.iter().map(|(batch, place)| (id(batch.uuid()), place)))
}

fn ids(batches: &[BatchId]) -> Result<String> {
    set(batches.iter().map(|b| id(b.uuid())))
}

#[async_trait]
impl LedgerOps for SqliteTx {
    async fn batches_list(
        &mut self,
        product: Option<ProductId>,
        before: Option<BatchId>,
        limit: i64,
    ) -> Result<Vec<BatchRecord>> {
        let list = sqlx::query(sql::LIST).bind(product.map(ProductId::uuid)).bind(before.map(BatchId::uuid));
        self.read(list.bind(limit), "batch", record).await
    }

    async fn batches_read(&mut self, batches: &[BatchId]) -> Result<Vec<BatchRecord>> {
        self.read(sqlx::query(sql::READ).bind(ids(batches)?), "batch", record).await
    }

    async fn batches_reading(&mut self, batches: &[BatchId]) -> Result<Vec<BatchReading>> {
        self.read(sqlx::query(sql::READING).bind(ids(batches)?), "batch", reading).await
    }

    async fn batches_ending(&mut self, by: Timestamp, limit: i64) -> Result<Vec<BatchId>> {
        let ending = sqlx::query(sql::ENDING).bind(by.micros()).bind(limit);
        self.read(ending, "batch", |f| f.id("id", BatchId::from_uuid)).await
    }

    async fn spans_at(&mut self, wanted: &[(BatchId, i64)]) -> Result<Vec<Covered>> {
        self.read(sqlx::query(sql::SPANS_AT).bind(places(wanted)?), "span", covered).await
    }

    async fn spans_explain(&mut self, causes: &[SpanCause]) -> Result<()> {
        let rows = set(causes.iter().map(|c| (id(c.batch.uuid()), c.upto, &c.actor, &c.reason)))?;
        self.execute(sqlx::query(sql::EXPLAIN).bind(rows).bind(self.time().micros())).await.map(drop)
    }

    async fn places_void(&mut self, voids: &[NewVoid]) -> Result<Vec<(BatchId, i64)>> {
        let rows = set(voids.iter().map(|v| (id(v.batch.uuid()), v.place, &v.reason, &v.actor, v.part)))?;
        let void = sqlx::query(sql::VOID).bind(rows).bind(self.time().micros());
        self.read(void, "voided_position", |f| Ok((f.id("batch", BatchId::from_uuid)?, f.get("position")?)))
            .await
    }

    async fn places_voided(&mut self, wanted: &[(BatchId, i64)]) -> Result<Vec<VoidedPlace>> {
        self.read(sqlx::query(sql::VOIDED).bind(places(wanted)?), "voided_position", voided).await
    }

    async fn movements_list(&mut self, filter: &MovementFilter, limit: i64) -> Result<Vec<Movement>> {
        let (spans, voids) = match filter {
            MovementFilter { order: Some(_), .. } => (sql::SPANS_BY_ORDER, sql::VOIDS_BY_ORDER),
            MovementFilter { batch: Some(_), .. } => (sql::SPANS_BY_BATCH, sql::VOIDS),
            MovementFilter { product: Some(_), .. } => (sql::SPANS_BY_PRODUCT, sql::VOIDS),
            MovementFilter { .. } => (sql::SPANS, sql::VOIDS),
        };
        let (before, upto) = filter.before.unzip();
        let bound = |sql: &'static str| {
            sqlx::query(sql)
                .bind(filter.product.map(ProductId::uuid))
                .bind(filter.batch.map(BatchId::uuid))
                .bind(filter.order.map(OrderId::uuid))
                .bind(before.map(BatchId::uuid))
                .bind(upto.unwrap_or(i64::MAX))
                .bind(limit)
        };
        let spans = self.read(bound(spans), "span", movement).await?;
        let voids = self.read(bound(voids), "voided_position", movement).await?;
        Ok(merged(spans, voids, limit))
    }

    async fn claimants_of(&mut self, product: ProductId, limit: i64) -> Result<Vec<Claimant>> {
        let claimants = sqlx::query(sql::CLAIMANTS).bind(product.uuid()).bind(limit);
        self.read(claimants, "orders", claimant).await
    }
}
