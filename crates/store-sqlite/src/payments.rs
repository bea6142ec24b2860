//! Payments, money and notices. See [`PaymentOps`].

use async_trait::async_trait;
use tessera_model::ids::{NoticeId, OrderId, PaymentId};
use tessera_model::money::{Currency, Money};
use tessera_model::pay::{MoneyEntry, MoneyState, PaymentReason};
use tessera_model::text::{OrderReference, Provider, Reference};
use tessera_model::time::Timestamp;
use tessera_store::Result;
use tessera_store::payments::{Notice, Payment, PaymentOps, Portion};

use crate::encode::{before, hex, id, set};
use crate::row::Fields;
use crate::tx::SqliteTx;

const CLAIM: &str = "\
    INSERT INTO payment (id, provider, reference, order_reference, minor, currency, paid_at, received_at)
    SELECT unhex(value->>0), value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, ?2
    FROM json_each(?1) WHERE true
    ON CONFLICT (provider, reference) DO NOTHING
    RETURNING id";
const KNOWN: &str = "\
    SELECT p.id, p.provider, p.reference, p.order_reference, p.minor, p.currency, p.paid_at FROM json_each(?1) j
    JOIN payment p ON p.provider = j.value->>0 AND p.reference = j.value->>1";
const UNCLAIM: &str = "DELETE FROM payment WHERE id IN (SELECT unhex(value) FROM json_each(?1))";
const EXPLAIN: &str = "\
    UPDATE payment SET order_id = said.order_id, reason = said.reason
    FROM (SELECT unhex(value->>0) AS id, unhex(value->>1) AS order_id, value->>2 AS reason
        FROM json_each(?1)) AS said
    WHERE payment.id = said.id";
const APPEND: &str = "\
    INSERT INTO money_entry (payment, order_id, amount, state, at)
    SELECT unhex(value->>0), unhex(value->>1), value->>2, value->>3, ?2 FROM json_each(?1) ORDER BY key";
const MONEY_OF: &str = "\
    SELECT p.order_id, p.id AS payment, m.state, sum(m.amount) AS minor, p.received_at
    FROM json_each(?1) j JOIN payment p ON p.order_id = unhex(j.value)
    JOIN money_entry m ON m.payment = p.id
    GROUP BY p.order_id, p.id, m.state HAVING sum(m.amount) <> 0 ORDER BY p.id";
const NOTICES_PUT: &str = "\
    INSERT INTO notice (id, provider, reason, body, received_at)
    SELECT unhex(value->>0), value->>1, value->>2, unhex(value->>3), value->>4 FROM json_each(?1) WHERE true
    ON CONFLICT (id) DO NOTHING";
const NOTICES_TRIM: &str = "\
    DELETE FROM notice WHERE reason = ?1 AND id NOT IN (
        SELECT id FROM notice WHERE reason = ?1 ORDER BY id DESC LIMIT ?2)";
const NOTICES: &str = concat!(
    "SELECT id, provider, reason, body, received_at FROM notice WHERE id < ",
    before!("?1"),
    " ORDER BY id DESC LIMIT ?2"
);

pub(crate) fn payment(fields: &Fields<'_>) -> Result<Payment> {
    let currency = fields.parse("currency", |t| Currency::parse(t).ok())?;
    Ok(Payment {
        id: fields.id("id", PaymentId::from_uuid)?,
        provider: fields.parse("provider", |t| Provider::parse(t).ok())?,
        reference: fields.parse("reference", |t| Reference::parse(t).ok())?,
        order_reference: fields.parse("order_reference", |t| OrderReference::parse(t).ok())?,
        amount: Money::new(fields.get("minor")?, currency),
        paid_at: fields.optional_time("paid_at")?,
    })
}

fn portion(fields: &Fields<'_>) -> Result<Portion> {
    Ok(Portion {
        order: fields.id("order_id", OrderId::from_uuid)?,
        payment: fields.id("payment", PaymentId::from_uuid)?,
        state: fields.parse("state", MoneyState::parse)?,
        minor: fields.get("minor")?,
        received_at: fields.time("received_at")?,
    })
}

fn notice(fields: &Fields<'_>) -> Result<Notice> {
    Ok(Notice {
        id: fields.id("id", NoticeId::from_uuid)?,
        provider: fields.parse("provider", |t| Provider::parse(t).ok())?,
        reason: fields.get("reason")?,
        body: fields.get("body")?,
        received_at: fields.time("received_at")?,
    })
}

#[async_trait]
impl PaymentOps for SqliteTx {
    async fn payments_claim(&mut self, payments: &[Payment]) -> Result<Vec<PaymentId>> {
        let rows = set(payments.iter().map(|p| {
            let names = (p.provider.as_str(), p.reference.as_str(), p.order_reference.as_str());
            let paid_at = p.paid_at.map(Timestamp::micros);
            let amount = (p.amount.minor, p.amount.currency.code());
            (id(p.id.uuid()), names.0, names.1, names.2, amount.0, amount.1, paid_at)
        }))?;
        let claim = sqlx::query(CLAIM).bind(rows).bind(self.time().micros());
        self.read(claim, "payment", |f| f.id("id", PaymentId::from_uuid)).await
    }

    async fn payments_known(&mut self, names: &[(Provider, Reference)]) -> Result<Vec<Payment>> {
        let names = set(names.iter().map(|(p, r)| (p.as_str(), r.as_str())))?;
        self.read(sqlx::query(KNOWN).bind(names), "payment", payment).await
    }

    async fn payments_unclaim(&mut self, ids: &[PaymentId]) -> Result<()> {
        let ids = set(ids.iter().map(|p| id(p.uuid())))?;
        self.execute(sqlx::query(UNCLAIM).bind(ids)).await.map(drop)
    }

    async fn payments_explain(
        &mut self,
        explained: &[(PaymentId, Option<OrderId>, Option<PaymentReason>)],
    ) -> Result<()> {
        let rows = set(explained.iter().map(|(payment, order, reason)| {
            (id(payment.uuid()), order.map(|o| id(o.uuid())), reason.map(PaymentReason::as_str))
        }))?;
        self.execute(sqlx::query(EXPLAIN).bind(rows)).await.map(drop)
    }

    async fn money_append(&mut self, entries: &[MoneyEntry]) -> Result<()> {
        let rows = set(entries
            .iter()
            .map(|e| (id(e.payment.uuid()), e.order.map(|o| id(o.uuid())), e.amount, e.state.as_str())))?;
        self.execute(sqlx::query(APPEND).bind(rows).bind(self.time().micros())).await.map(drop)
    }

    async fn money_of(&mut self, orders: &[OrderId]) -> Result<Vec<Portion>> {
        let orders = set(orders.iter().map(|o| id(o.uuid())))?;
        self.read(sqlx::query(MONEY_OF).bind(orders), "money_entry", portion).await
    }

    async fn notices_put(&mut self, notices: &[Notice]) -> Result<()> {
        let rows = set(notices.iter().map(|n| {
            let body = hex(&n.body);
            (id(n.id.uuid()), n.provider.as_str(), n.reason.as_str(), body, n.received_at.micros())
        }))?;
        self.execute(sqlx::query(NOTICES_PUT).bind(rows)).await.map(drop)
    }

    async fn notices_trim(&mut self, reason: &str, keep: i64) -> Result<()> {
        let trim = sqlx::query(NOTICES_TRIM).bind(reason.to_owned()).bind(keep);
        self.execute(trim).await.map(drop)
    }

    async fn notices_list(&mut self, before: Option<NoticeId>, limit: i64) -> Result<Vec<Notice>> {
        let list = sqlx::query(NOTICES).bind(before.map(NoticeId::uuid)).bind(limit);
        self.read(list, "notice", notice).await
    }
}
