//! Raffles and rounds. See [`RoundOps`].

use async_trait::async_trait;
use serde::Serialize;
use tessera_model::draw::EntropyRule;
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::keys::WrappedKey;
use tessera_model::round::{Drawn, OpenRound, Round, RoundState, Turned};
use tessera_model::text::Sku;
use tessera_model::time::Timestamp;
use tessera_store::Result;
use tessera_store::rounds::{RoundOps, RoundToOpen, Share, StoredRaffle};

use crate::batches::{open, wrapped};
use crate::encode::{hex, id, set};
use crate::row::Fields;
use crate::tx::SqliteTx;

mod sql;

/// A round as `json_each` reads it.
#[derive(Serialize)]
struct Row {
    id: String,
    product: String,
    number: i64,
    shares: i64,
    first_number: i64,
    draw_after: u64,
    commitment: String,
    entropy_rule: &'static str,
    digest: String,
    full: i64,
    key_id: String,
    wrapped: String,
}

fn row(open: &RoundToOpen) -> Row {
    let RoundToOpen { round, key, turned } = open;
    Row {
        id: id(round.id.uuid()),
        product: id(round.product.uuid()),
        number: round.number,
        shares: round.shares,
        first_number: round.first_number,
        draw_after: round.draw_after.as_secs(),
        commitment: hex(&round.commitment),
        entropy_rule: round.entropy_rule.as_str(),
        digest: hex(&turned.map_or(round.digest, |turned| turned.digest)),
        full: turned.is_some_and(|turned| turned.full).into(),
        key_id: key.key.as_str().to_owned(),
        wrapped: hex(&key.bytes),
    }
}

fn raffle(fields: &Fields<'_>) -> Result<StoredRaffle> {
    let round = match fields.get::<Option<i64>>("number")? {
        Some(number) => Some(OpenRound { number, digest: fields.bytes("digest")?, batch: open(fields)? }),
        None => None,
    };
    Ok(StoredRaffle {
        product: fields.id("raffle", ProductId::from_uuid)?,
        key: wrapped(fields, "key_id", "wrapped")?,
        last: fields.get("last")?,
        round,
    })
}

fn round(fields: &Fields<'_>) -> Result<Round> {
    let drawn = match fields.optional_time("drawn_at")? {
        Some(at) => {
            let (position, number) = (fields.get("winning_position")?, fields.get("winning_number")?);
            Some(Drawn { at, position, number })
        }
        None => None,
    };
    Ok(Round {
        id: fields.id("batch", BatchId::from_uuid)?,
        product: fields.id("product", ProductId::from_uuid)?,
        sku: fields.parse("sku", |t| Sku::parse(t).ok())?,
        number: fields.get("number")?,
        state: fields.parse("state", RoundState::parse)?,
        shares: fields.get("shares")?,
        sold: fields.get("sold")?,
        first_number: fields.get("first_number")?,
        commitment: fields.bytes("commitment")?,
        entropy_rule: fields.parse("entropy_rule", EntropyRule::parse)?,
        entropy: fields.get("entropy")?,
        digest: fields.bytes("digest")?,
        opened_at: fields.time("opened_at")?,
        full_at: fields.optional_time("full_at")?,
        draw_at: fields.optional_time("draw_at")?,
        drawn,
    })
}

pub(crate) fn share(fields: &Fields<'_>) -> Result<Share> {
    Ok(Share {
        order: fields.id("order_id", OrderId::from_uuid)?,
        line: fields.integer("line")?,
        start: fields.get("start")?,
        upto: fields.get("upto")?,
    })
}

#[async_trait]
impl RoundOps for SqliteTx {
    async fn raffles_put(&mut self, raffles: &[(ProductId, WrappedKey)]) -> Result<()> {
        let rows = raffles.iter().map(|(p, key)| (id(p.uuid()), key.key.as_str(), hex(&key.bytes)));
        self.execute(sqlx::query(sql::RAFFLES_PUT).bind(set(rows)?)).await.map(drop)
    }

    async fn raffles_read(&mut self, products: &[ProductId]) -> Result<Vec<StoredRaffle>> {
        let products = set(products.iter().map(|p| id(p.uuid())))?;
        self.read(sqlx::query(sql::RAFFLES).bind(products), "round", raffle).await
    }

    async fn rounds_open(&mut self, rounds: &[RoundToOpen]) -> Result<()> {
        let (rows, now) = (set(rounds.iter().map(row))?, self.time().micros());
        self.execute(sqlx::query(sql::OPEN_BATCH).bind(rows.clone()).bind(now)).await?;
        self.execute(sqlx::query(sql::OPEN_ANCHOR).bind(rows.clone())).await?;
        self.execute(sqlx::query(sql::OPEN).bind(rows).bind(now)).await.map(drop)
    }

    async fn rounds_turn(&mut self, turned: &[(BatchId, Turned)]) -> Result<()> {
        let rows = turned.iter().map(|(b, t)| (id(b.uuid()), hex(&t.digest), i64::from(t.full)));
        let turn = sqlx::query(sql::TURN).bind(set(rows)?).bind(self.time().micros());
        self.execute(turn).await.map(drop)
    }

    async fn stock_claims(&mut self, products: &[(ProductId, bool)]) -> Result<()> {
        let rows = set(products.iter().map(|(p, claims)| (id(p.uuid()), i64::from(*claims))))?;
        self.execute(sqlx::query(sql::CLAIMS).bind(rows)).await.map(drop)
    }

    async fn rounds_read(&mut self, ids: &[BatchId]) -> Result<Vec<Round>> {
        let ids = set(ids.iter().map(|b| id(b.uuid())))?;
        self.read(sqlx::query(sql::READ).bind(ids), "round", round).await
    }

    async fn rounds_lock(&mut self, ids: &[BatchId]) -> Result<Vec<Round>> {
        self.rounds_read(ids).await
    }

    async fn rounds_list(
        &mut self,
        product: Option<ProductId>,
        before: Option<BatchId>,
        limit: i64,
    ) -> Result<Vec<Round>> {
        let (product, before) = (product.map(ProductId::uuid), before.map(BatchId::uuid));
        let list = sqlx::query(sql::LIST).bind(product).bind(before).bind(limit);
        self.read(list, "round", round).await
    }

    async fn rounds_on_sale(&mut self, products: &[ProductId]) -> Result<Vec<Round>> {
        let products = set(products.iter().map(|p| id(p.uuid())))?;
        self.read(sqlx::query(sql::ON_SALE).bind(products), "round", round).await
    }

    async fn rounds_due(
        &mut self,
        now: Timestamp,
        after: Option<BatchId>,
        limit: i64,
    ) -> Result<Vec<BatchId>> {
        let due = sqlx::query(sql::DUE).bind(now.micros()).bind(after.map(BatchId::uuid)).bind(limit);
        self.read(due, "round", |f| f.id("batch", BatchId::from_uuid)).await
    }

    async fn rounds_shares(&mut self, batch: BatchId) -> Result<Vec<Share>> {
        self.read(sqlx::query(sql::SHARES).bind(batch.uuid()), "span", share).await
    }

    async fn rounds_entropy(&mut self, batch: BatchId, entropy: &[u8]) -> Result<bool> {
        let put = sqlx::query(sql::ENTROPY).bind(batch.uuid()).bind(entropy.to_vec());
        self.execute(put).await.map(|kept| kept == 1)
    }

    async fn rounds_drawn(&mut self, drawn: &[(BatchId, Drawn)]) -> Result<Vec<BatchId>> {
        let rows = drawn.iter().map(|(b, d)| (id(b.uuid()), d.at.micros(), d.position, d.number));
        let draw = sqlx::query(sql::DRAWN).bind(set(rows)?);
        self.read(draw, "round", |f| f.id("batch", BatchId::from_uuid)).await
    }

    async fn rounds_cancel(&mut self, batch: BatchId) -> Result<bool> {
        let cancel = sqlx::query(sql::CANCEL).bind(batch.uuid()).bind(self.time().micros());
        self.execute(cancel).await.map(|cancelled| cancelled == 1)
    }

    async fn orders_undrawn(&mut self, orders: &[OrderId]) -> Result<Vec<OrderId>> {
        let orders = set(orders.iter().map(|o| id(o.uuid())))?;
        let undrawn = sqlx::query(sql::UNDRAWN).bind(orders);
        self.read(undrawn, "span", |f| f.id("order_id", OrderId::from_uuid)).await
    }

    async fn raffles_key(&mut self, product: ProductId) -> Result<Option<WrappedKey>> {
        let row = self.one(sqlx::query(sql::KEY).bind(product.uuid())).await?;
        row.map(|row| wrapped(&Fields::of(&row, "raffle"), "key_id", "wrapped")).transpose()
    }
}
