//! Raffles and rounds. See [`RoundOps`].

use async_trait::async_trait;
use tessera_model::draw::EntropyRule;
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::keys::WrappedKey;
use tessera_model::round::{Drawn, OpenRound, Round, RoundState, Turned};
use tessera_model::text::Sku;
use tessera_model::time::Timestamp;
use tessera_store::Result;
use tessera_store::rounds::{RoundOps, RoundToOpen, Share, StoredRaffle};

use crate::batches::{open, wrapped};
use crate::encode::{At, bigint, column};
use crate::orders::ids;
use crate::row::Fields;
use crate::tx::{PostgresTx, Statement};

mod sql;

/// The columns of [`sql::OPEN`] and its companions, in their order.
fn opened(statement: &'static str, rounds: &[RoundToOpen], now: At) -> Statement {
    let full = |open: &RoundToOpen| open.turned.is_some_and(|turned| turned.full);
    let digest = |open: &RoundToOpen| open.turned.map_or(open.round.digest, |turned| turned.digest).to_vec();
    sqlx::query(statement)
        .bind(now)
        .bind(column(rounds, |o| o.round.id.uuid()))
        .bind(column(rounds, |o| o.round.product.uuid()))
        .bind(column(rounds, |o| o.round.number))
        .bind(column(rounds, |o| o.round.shares))
        .bind(column(rounds, |o| o.round.first_number))
        .bind(column(rounds, |o| bigint(o.round.draw_after.as_secs())))
        .bind(column(rounds, |o| o.round.commitment.to_vec()))
        .bind(column(rounds, |o| o.round.entropy_rule.as_str()))
        .bind(column(rounds, digest))
        .bind(column(rounds, full))
        .bind(column(rounds, |o| o.key.key.as_str().to_owned()))
        .bind(column(rounds, |o| o.key.bytes.clone()))
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
        line: fields.small("line")?,
        start: fields.get("start")?,
        upto: fields.get("upto")?,
    })
}

#[async_trait]
impl RoundOps for PostgresTx {
    async fn raffles_put(&mut self, raffles: &[(ProductId, WrappedKey)]) -> Result<()> {
        let put = sqlx::query(sql::RAFFLES_PUT)
            .bind(column(raffles, |(product, _)| product.uuid()))
            .bind(column(raffles, |(_, key)| key.key.as_str().to_owned()))
            .bind(column(raffles, |(_, key)| key.bytes.clone()));
        self.execute(put).await.map(drop)
    }

    async fn raffles_read(&mut self, products: &[ProductId]) -> Result<Vec<StoredRaffle>> {
        let products = column(products, |p| p.uuid());
        self.lock(sqlx::query(sql::RAFFLES_LOCK).bind(products.clone())).await?;
        self.read(sqlx::query(sql::RAFFLES).bind(products), "round", raffle).await
    }

    async fn rounds_open(&mut self, rounds: &[RoundToOpen]) -> Result<()> {
        for statement in [sql::OPEN_BATCH, sql::OPEN_ANCHOR, sql::OPEN] {
            self.execute(opened(statement, rounds, self.at())).await?;
        }
        Ok(())
    }

    async fn rounds_turn(&mut self, turned: &[(BatchId, Turned)]) -> Result<()> {
        let turn = sqlx::query(sql::TURN)
            .bind(self.at())
            .bind(column(turned, |(batch, _)| batch.uuid()))
            .bind(column(turned, |(_, turned)| turned.digest.to_vec()))
            .bind(column(turned, |(_, turned)| turned.full));
        self.execute(turn).await.map(drop)
    }

    async fn stock_claims(&mut self, products: &[(ProductId, bool)]) -> Result<()> {
        let ids = column(products, |(product, _)| product.uuid());
        let claims = sqlx::query(sql::CLAIMS).bind(ids).bind(column(products, |(_, claims)| *claims));
        self.execute(claims).await.map(drop)
    }

    async fn rounds_read(&mut self, rounds: &[BatchId]) -> Result<Vec<Round>> {
        self.read(sqlx::query(sql::READ).bind(column(rounds, |b| b.uuid())), "round", round).await
    }

    async fn rounds_lock(&mut self, rounds: &[BatchId]) -> Result<Vec<Round>> {
        self.lock(sqlx::query(sql::LOCK).bind(column(rounds, |b| b.uuid()))).await?;
        self.rounds_read(rounds).await
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
        let on_sale = sqlx::query(sql::ON_SALE).bind(column(products, |p| p.uuid()));
        self.read(on_sale, "round", round).await
    }

    async fn rounds_due(
        &mut self,
        now: Timestamp,
        after: Option<BatchId>,
        limit: i64,
    ) -> Result<Vec<BatchId>> {
        let due = sqlx::query(sql::DUE).bind(At(now)).bind(after.map(BatchId::uuid)).bind(limit);
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
        let draw = sqlx::query(sql::DRAWN)
            .bind(column(drawn, |(batch, _)| batch.uuid()))
            .bind(column(drawn, |(_, drawn)| At(drawn.at)))
            .bind(column(drawn, |(_, drawn)| drawn.position))
            .bind(column(drawn, |(_, drawn)| drawn.number));
        self.read(draw, "round", |f| f.id("batch", BatchId::from_uuid)).await
    }

    async fn rounds_cancel(&mut self, batch: BatchId) -> Result<bool> {
        let cancel = sqlx::query(sql::CANCEL).bind(batch.uuid()).bind(self.at());
        self.execute(cancel).await.map(|cancelled| cancelled == 1)
    }

    async fn orders_undrawn(&mut self, orders: &[OrderId]) -> Result<Vec<OrderId>> {
        let undrawn = sqlx::query(sql::UNDRAWN).bind(ids(orders));
        self.read(undrawn, "span", |f| f.id("order_id", OrderId::from_uuid)).await
    }

    async fn raffles_key(&mut self, product: ProductId) -> Result<Option<WrappedKey>> {
        let row = self.one(sqlx::query(sql::KEY).bind(product.uuid())).await?;
        row.map(|row| wrapped(&Fields::of(&row, "raffle"), "key_id", "wrapped")).transpose()
    }
}
