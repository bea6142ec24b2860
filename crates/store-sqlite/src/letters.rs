//! Dead letters and lone tries. See [`LetterOps`].

use async_trait::async_trait;
use tessera_model::ids::{LetterId, OrderId};
use tessera_store::Result;
use tessera_store::letters::{Letter, LetterOps, LetterState};

use crate::encode::{before, hex, id, set};
use crate::row::Fields;
use crate::tx::SqliteTx;

const PUT: &str = "\
    INSERT INTO dead_letter (id, message_id, event, order_id, reason, fingerprint, attempts, state, body,
        first_failed_at, last_failed_at)
    SELECT unhex(value->>0), value->>1, value->>2, unhex(value->>3), value->>4, value->>5, value->>6,
        value->>7, unhex(value->>8), value->>9, value->>10
    FROM json_each(?1) WHERE true
    ON CONFLICT (order_id) WHERE order_id IS NOT NULL AND state IN ('open', 'replaying')
    DO UPDATE SET reason = excluded.reason, fingerprint = excluded.fingerprint, state = 'open',
        attempts = attempts + excluded.attempts, last_failed_at = excluded.last_failed_at";
const RESOLVE: &str = "\
    UPDATE dead_letter SET state = 'resolved'
    WHERE state IN ('open', 'replaying') AND order_id IN (SELECT unhex(value) FROM json_each(?1))";
macro_rules! columns {
    () => {
        "SELECT id, message_id, event, order_id, reason, fingerprint, attempts, state, body, first_failed_at, \
         last_failed_at FROM dead_letter "
    };
}
const LIVE: &str = concat!(
    columns!(),
    "WHERE state IN ('open', 'replaying') AND id < ",
    before!("?1"),
    " ORDER BY id DESC LIMIT ?2"
);
const IN_STATE: &str =
    concat!(columns!(), "WHERE state = ?3 AND id < ", before!("?1"), " ORDER BY id DESC LIMIT ?2");
const READ: &str = concat!(columns!(), "WHERE id = ?1");
pub(crate) const OF_ORDER: &str = concat!(columns!(), "WHERE order_id = ?1 ORDER BY id");
const RAISE: &str = "\
    INSERT INTO attempt (order_id, count)
    SELECT o.id, 1 FROM json_each(?1) j JOIN orders o ON o.id = unhex(j.value) WHERE true
    ON CONFLICT (order_id) DO UPDATE SET count = count + 1
    RETURNING order_id, count";
const CLEAR: &str = "DELETE FROM attempt WHERE order_id IN (SELECT unhex(value) FROM json_each(?1))";

pub(crate) fn letter(fields: &Fields<'_>) -> Result<Letter> {
    Ok(Letter {
        id: fields.id("id", LetterId::from_uuid)?,
        message_id: fields.get("message_id")?,
        event: fields.get("event")?,
        order: fields.optional_id("order_id", OrderId::from_uuid)?,
        reason: fields.get("reason")?,
        fingerprint: fields.get("fingerprint")?,
        attempts: fields.get("attempts")?,
        state: fields.parse("state", LetterState::parse)?,
        body: fields.get("body")?,
        first_failed_at: fields.time("first_failed_at")?,
        last_failed_at: fields.time("last_failed_at")?,
    })
}

#[async_trait]
impl LetterOps for SqliteTx {
    async fn letters_put(&mut self, letters: &[Letter]) -> Result<()> {
        let rows = set(letters.iter().map(|l| {
            let order = l.order.map(|o| id(o.uuid()));
            let failed = (l.first_failed_at.micros(), l.last_failed_at.micros());
            let why = (&l.reason, &l.fingerprint, l.attempts, l.state.as_str());
            (
                id(l.id.uuid()),
                &l.message_id,
                &l.event,
                order,
                why.0,
                why.1,
                why.2,
                why.3,
                hex(&l.body),
                failed.0,
                failed.1,
            )
        }))?;
        self.execute(sqlx::query(PUT).bind(rows)).await.map(drop)
    }

    async fn letters_resolve(&mut self, orders: &[OrderId]) -> Result<()> {
        let orders = set(orders.iter().map(|o| id(o.uuid())))?;
        self.execute(sqlx::query(RESOLVE).bind(orders)).await.map(drop)
    }

    async fn letters_list(
        &mut self,
        state: Option<LetterState>,
        before: Option<LetterId>,
        limit: i64,
    ) -> Result<Vec<Letter>> {
        let before = before.map(LetterId::uuid);
        let list = match state {
            None => sqlx::query(LIVE).bind(before).bind(limit),
            Some(state) => sqlx::query(IN_STATE).bind(before).bind(limit).bind(state.as_str()),
        };
        self.read(list, "dead_letter", letter).await
    }

    async fn letters_read(&mut self, letter_id: LetterId) -> Result<Option<Letter>> {
        let row = self.one(sqlx::query(READ).bind(letter_id.uuid())).await?;
        row.map(|row| letter(&Fields::of(&row, "dead_letter"))).transpose()
    }

    async fn attempts_raise(&mut self, orders: &[OrderId]) -> Result<Vec<(OrderId, i64)>> {
        let orders = set(orders.iter().map(|o| id(o.uuid())))?;
        self.read(sqlx::query(RAISE).bind(orders), "attempt", |f| {
            Ok((f.id("order_id", OrderId::from_uuid)?, f.get("count")?))
        })
        .await
    }

    async fn attempts_clear(&mut self, orders: &[OrderId]) -> Result<()> {
        let orders = set(orders.iter().map(|o| id(o.uuid())))?;
        self.execute(sqlx::query(CLEAR).bind(orders)).await.map(drop)
    }
}
