//! Dead letters and lone tries. See [`LetterOps`].

use std::collections::BTreeMap;

use async_trait::async_trait;
use tessera_model::ids::{LetterId, OrderId};
use tessera_store::Result;
use tessera_store::letters::{Letter, LetterOps, LetterState};

use crate::encode::{At, before, column};
use crate::orders::ids;
use crate::row::Fields;
use crate::tx::{PostgresTx, Statement};

const PUT: &str = "\
    INSERT INTO dead_letter (id, message_id, event, order_id, reason, fingerprint, attempts, state, body,
        first_failed_at, last_failed_at)
    SELECT id, message_id, event, order_id, reason, fingerprint, attempts, state, body, first_failed_at,
        last_failed_at
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::text[],
        $9::bytea[], $10::timestamptz[], $11::timestamptz[]) AS j(id, message_id, event, order_id, reason,
        fingerprint, attempts, state, body, first_failed_at, last_failed_at)
    ORDER BY order_id, id
    ON CONFLICT (order_id) WHERE order_id IS NOT NULL AND state IN ('open', 'replaying')
    DO UPDATE SET reason = excluded.reason, fingerprint = excluded.fingerprint, state = 'open',
        attempts = dead_letter.attempts + excluded.attempts, last_failed_at = excluded.last_failed_at";
/// Locked by order first, as `PUT` takes them. That `order_id` is not NULL is said, for the index of live letters
/// serves nothing else, and an array that is a parameter does not tell.
const RESOLVE: &str = "\
    WITH live AS MATERIALIZED (SELECT id FROM dead_letter
        WHERE state IN ('open', 'replaying') AND order_id = ANY($1) AND order_id IS NOT NULL ORDER BY order_id FOR NO KEY UPDATE)
    UPDATE dead_letter d SET state = 'resolved' FROM live WHERE d.id = live.id";
macro_rules! columns {
    () => {
        "SELECT id, message_id, event, order_id, reason, fingerprint, attempts, state, body, first_failed_at, \
         last_failed_at FROM dead_letter "
    };
}
const LIVE: &str = concat!(
    columns!(),
    "WHERE state IN ('open', 'replaying') AND id < ",
    before!("$1"),
    " ORDER BY id DESC LIMIT $2"
);
const IN_STATE: &str =
    concat!(columns!(), "WHERE state = $3 AND id < ", before!("$1"), " ORDER BY id DESC LIMIT $2");
const READ: &str = concat!(columns!(), "WHERE id = $1");
pub(crate) const OF_ORDER: &str = concat!(columns!(), "WHERE order_id = $1 ORDER BY id");
const RAISE: &str = "\
    INSERT INTO attempt (order_id, count)
    SELECT id, 1 FROM orders WHERE id = ANY($1) ORDER BY id
    ON CONFLICT (order_id) DO UPDATE SET count = attempt.count + 1
    RETURNING order_id, count";
const CLEAR: &str = "\
    WITH tried AS MATERIALIZED (SELECT order_id FROM attempt WHERE order_id = ANY($1) ORDER BY order_id FOR UPDATE)
    DELETE FROM attempt a USING tried WHERE a.order_id = tried.order_id";

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

/// Letters of which an order has one that lives: an upsert may meet a row only once, so later ones are first
/// made the earlier one's latest failure, as the statement would.
fn merged(letters: &[Letter]) -> Vec<Letter> {
    let mut kept: Vec<Letter> = vec![];
    let mut live: BTreeMap<OrderId, usize> = BTreeMap::new();
    for letter in letters {
        let lives = matches!(letter.state, LetterState::Open | LetterState::Replaying);
        let order = letter.order.filter(|_| lives);
        if let Some(first) = order.and_then(|o| live.get(&o)).and_then(|at| kept.get_mut(*at)) {
            first.reason.clone_from(&letter.reason);
            first.fingerprint.clone_from(&letter.fingerprint);
            first.state = LetterState::Open;
            first.attempts = first.attempts.saturating_add(letter.attempts);
            first.last_failed_at = letter.last_failed_at;
            continue;
        }
        if let Some(order) = order {
            live.insert(order, kept.len());
        }
        kept.push(letter.clone());
    }
    kept
}

/// The columns of [`PUT`], in its order.
fn put(letters: &[Letter]) -> Statement {
    sqlx::query(PUT)
        .bind(column(letters, |l| l.id.uuid()))
        .bind(column(letters, |l| l.message_id.as_deref()))
        .bind(column(letters, |l| l.event.as_deref()))
        .bind(column(letters, |l| l.order.map(OrderId::uuid)))
        .bind(column(letters, |l| l.reason.as_str()))
        .bind(column(letters, |l| l.fingerprint.as_str()))
        .bind(column(letters, |l| l.attempts))
        .bind(column(letters, |l| l.state.as_str()))
        .bind(column(letters, |l| l.body.as_slice()))
        .bind(column(letters, |l| At(l.first_failed_at)))
        .bind(column(letters, |l| At(l.last_failed_at)))
}

#[async_trait]
impl LetterOps for PostgresTx {
    async fn letters_put(&mut self, letters: &[Letter]) -> Result<()> {
        self.execute(put(&merged(letters))).await.map(drop)
    }

    async fn letters_resolve(&mut self, orders: &[OrderId]) -> Result<()> {
        self.execute(sqlx::query(RESOLVE).bind(ids(orders))).await.map(drop)
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

    async fn letters_read(&mut self, id: LetterId) -> Result<Option<Letter>> {
        let row = self.one(sqlx::query(READ).bind(id.uuid())).await?;
        row.map(|row| letter(&Fields::of(&row, "dead_letter"))).transpose()
    }

    async fn attempts_raise(&mut self, orders: &[OrderId]) -> Result<Vec<(OrderId, i64)>> {
        self.read(sqlx::query(RAISE).bind(ids(orders)), "attempt", |f| {
            Ok((f.id("order_id", OrderId::from_uuid)?, f.get("count")?))
        })
        .await
    }

    async fn attempts_clear(&mut self, orders: &[OrderId]) -> Result<()> {
        self.execute(sqlx::query(CLEAR).bind(ids(orders))).await.map(drop)
    }
}
