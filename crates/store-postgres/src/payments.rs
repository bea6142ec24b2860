//! Payments, money and notices. See [`PaymentOps`].

use async_trait::async_trait;
use tessera_model::ids::{NoticeId, OrderId, PaymentId};
use tessera_model::money::{Currency, Money};
use tessera_model::pay::{MoneyEntry, MoneyState, PaymentReason};
use tessera_model::text::{OrderReference, Provider, Reference};
use tessera_store::Result;
use tessera_store::payments::{Notice, Payment, PaymentOps, Portion};

use crate::encode::{At, before, column};
use crate::orders::ids;
use crate::row::Fields;
use crate::tx::PostgresTx;

/// Sorted as the unique index is, so that sets that claim the same references wait in one order.
const CLAIM: &str = "\
    INSERT INTO payment (id, provider, reference, order_reference, minor, currency, paid_at, received_at)
    SELECT id, provider, reference, order_reference, minor, currency, paid_at, $8
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::timestamptz[])
        WITH ORDINALITY AS j(id, provider, reference, order_reference, minor, currency, paid_at, n)
    ORDER BY reference COLLATE \"C\", provider COLLATE \"C\", n
    ON CONFLICT (reference, provider) DO NOTHING
    RETURNING id";
const KNOWN: &str = "\
    SELECT p.id, p.provider, p.reference, p.order_reference, p.minor, p.currency, p.paid_at
    FROM unnest($1::text[], $2::text[]) AS j(provider, reference)
    CROSS JOIN LATERAL (SELECT * FROM payment WHERE reference = j.reference AND provider = j.provider OFFSET 0) p";
const UNCLAIM: &str = "DELETE FROM payment WHERE id = ANY($1)";
const EXPLAIN: &str = "\
    UPDATE payment SET order_id = said.order_id, reason = said.reason
    FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS said(id, order_id, reason)
    WHERE payment.id = said.id";
const APPEND: &str = "\
    INSERT INTO money_entry (payment, order_id, amount, state, at)
    SELECT payment, order_id, amount, state, $5
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[])
        WITH ORDINALITY AS j(payment, order_id, amount, state, n) ORDER BY n";
/// From the orders to their payments to each one's entries, in every plan. That `order_id` is not NULL is said, for an
/// array that is a parameter does not tell, and the index has no others.
const MONEY_OF: &str = "\
    SELECT p.order_id, p.id AS payment, m.state, m.minor, p.received_at
    FROM payment p CROSS JOIN LATERAL (SELECT state, sum(amount)::bigint AS minor FROM money_entry
        WHERE payment = p.id GROUP BY state HAVING sum(amount) <> 0) m
    WHERE p.order_id = ANY($1) AND p.order_id IS NOT NULL ORDER BY p.id";
const NOTICES_PUT: &str = "\
    INSERT INTO notice (id, provider, reason, body, received_at)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::timestamptz[])
    ON CONFLICT (id) DO NOTHING";
const NOTICES_TRIM: &str = "\
    DELETE FROM notice WHERE reason = $1 AND id NOT IN (
        SELECT id FROM notice WHERE reason = $1 ORDER BY id DESC LIMIT $2)";
const NOTICES: &str = concat!(
    "SELECT id, provider, reason, body, received_at FROM notice WHERE id < ",
    before!("$1"),
    " ORDER BY id DESC LIMIT $2"
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
impl PaymentOps for PostgresTx {
    async fn payments_claim(&mut self, payments: &[Payment]) -> Result<Vec<PaymentId>> {
        let claim = sqlx::query(CLAIM)
            .bind(column(payments, |p| p.id.uuid()))
            .bind(column(payments, |p| p.provider.as_str()))
            .bind(column(payments, |p| p.reference.as_str()))
            .bind(column(payments, |p| p.order_reference.as_str()))
            .bind(column(payments, |p| p.amount.minor))
            .bind(column(payments, |p| p.amount.currency.code()))
            .bind(column(payments, |p| p.paid_at.map(At)))
            .bind(self.at());
        self.read(claim, "payment", |f| f.id("id", PaymentId::from_uuid)).await
    }

    async fn payments_known(&mut self, names: &[(Provider, Reference)]) -> Result<Vec<Payment>> {
        let providers = column(names, |(provider, _)| provider.as_str());
        let references = column(names, |(_, reference)| reference.as_str());
        self.read(sqlx::query(KNOWN).bind(providers).bind(references), "payment", payment).await
    }

    async fn payments_unclaim(&mut self, payments: &[PaymentId]) -> Result<()> {
        self.execute(sqlx::query(UNCLAIM).bind(column(payments, |p| p.uuid()))).await.map(drop)
    }

    async fn payments_explain(
        &mut self,
        explained: &[(PaymentId, Option<OrderId>, Option<PaymentReason>)],
    ) -> Result<()> {
        let explain = sqlx::query(EXPLAIN)
            .bind(column(explained, |(payment, ..)| payment.uuid()))
            .bind(column(explained, |(_, order, _)| order.map(OrderId::uuid)))
            .bind(column(explained, |(.., reason)| reason.map(PaymentReason::as_str)));
        self.execute(explain).await.map(drop)
    }

    async fn money_append(&mut self, entries: &[MoneyEntry]) -> Result<()> {
        let append = sqlx::query(APPEND)
            .bind(column(entries, |e| e.payment.uuid()))
            .bind(column(entries, |e| e.order.map(OrderId::uuid)))
            .bind(column(entries, |e| e.amount))
            .bind(column(entries, |e| e.state.as_str()))
            .bind(self.at());
        self.execute(append).await.map(drop)
    }

    async fn money_of(&mut self, orders: &[OrderId]) -> Result<Vec<Portion>> {
        self.read(sqlx::query(MONEY_OF).bind(ids(orders)), "money_entry", portion).await
    }

    async fn notices_put(&mut self, notices: &[Notice]) -> Result<()> {
        let put = sqlx::query(NOTICES_PUT)
            .bind(column(notices, |n| n.id.uuid()))
            .bind(column(notices, |n| n.provider.as_str()))
            .bind(column(notices, |n| n.reason.as_str()))
            .bind(column(notices, |n| n.body.as_slice()))
            .bind(column(notices, |n| At(n.received_at)));
        self.execute(put).await.map(drop)
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
