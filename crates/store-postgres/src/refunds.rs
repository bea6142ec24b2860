//! Payments as operators look at them, and refunds. See [`RefundOps`].

use async_trait::async_trait;
use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::pay::{KnownRefund, MoneyState, PaymentReason, Teller};
use tessera_model::text::{Provider, Reference};
use tessera_store::Result;
use tessera_store::refunds::{RefundOps, StoredPayment};
use uuid::Uuid;

use crate::encode::{before, column};
use crate::payments::payment;
use crate::row::Fields;
use crate::tx::PostgresTx;

macro_rules! columns {
    () => {
        "SELECT p.id, p.provider, p.reference, p.order_reference, p.order_id, p.minor, p.currency, p.paid_at, \
         p.received_at, p.reason FROM "
    };
}
const READ: &str = concat!(columns!(), "payment p WHERE p.id = ANY($1)");
const LOCK: &str = "SELECT id FROM payment WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE";
const LIST: &str =
    concat!(columns!(), "payment p WHERE p.id < ", before!("$1"), " ORDER BY p.id DESC LIMIT $2");
/// Most payments have settled money, so the newest are looked through.
const LIST_SETTLED: &str = concat!(
    columns!(),
    "payment p WHERE p.id < ",
    before!("$1"),
    " AND (SELECT sum(amount) FROM money_entry WHERE payment = p.id AND state = $3) <> 0 \
     ORDER BY p.id DESC LIMIT $2"
);
/// Few have any other, so those are looked up; that the state is another is said for the index.
const LIST_OPEN: &str = concat!(
    columns!(),
    "(SELECT payment FROM money_entry WHERE state = $3 AND state <> 'settled' AND payment < ",
    before!("$1"),
    " GROUP BY payment HAVING sum(amount) <> 0 ORDER BY payment DESC LIMIT $2) m \
     JOIN payment p ON p.id = m.payment ORDER BY p.id DESC"
);
const PORTIONS: &str = "\
    SELECT m.payment, m.state, sum(m.amount)::bigint AS minor FROM money_entry m WHERE m.payment = ANY($1)
    GROUP BY m.payment, m.state HAVING sum(m.amount) <> 0";
/// Sorted as the unique index is, so that sets that put the same names wait in one order.
const PUT: &str = "\
    INSERT INTO refund (provider, payment, teller, reference, minor, moved, repeats, at)
    SELECT provider, payment, teller, reference, minor, moved, repeats, $8
    FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
        WITH ORDINALITY AS j(provider, payment, teller, reference, minor, moved, repeats, n)
    ORDER BY reference COLLATE \"C\", provider COLLATE \"C\", n";
const NAMED: &str = "\
    SELECT r.provider, r.payment, r.teller, r.reference, r.minor, r.moved, r.repeats
    FROM unnest($1::text[], $2::text[]) AS j(provider, reference)
    JOIN refund r ON r.teller = 'operator' AND r.provider = j.provider AND r.reference = j.reference";
const OF: &str = "\
    SELECT r.payment, r.teller, r.reference, r.minor, r.moved, r.repeats FROM refund r
    WHERE r.payment = ANY($1) ORDER BY r.id";

fn stored(fields: &Fields<'_>) -> Result<StoredPayment> {
    let reason = fields.get::<Option<&str>>("reason")?;
    let known = reason.map(|r| PaymentReason::parse(r).ok_or_else(|| fields.inconsistent("reason")));
    Ok(StoredPayment {
        payment: payment(fields)?,
        order: fields.optional_id("order_id", OrderId::from_uuid)?,
        received_at: fields.time("received_at")?,
        reason: known.transpose()?,
    })
}

fn refund(fields: &Fields<'_>) -> Result<KnownRefund> {
    let repeats = fields.get::<Option<&str>>("repeats")?.map(Reference::parse).transpose();
    Ok(KnownRefund {
        payment: fields.id("payment", PaymentId::from_uuid)?,
        teller: fields.parse("teller", Teller::parse)?,
        reference: fields.parse("reference", |t| Reference::parse(t).ok())?,
        minor: fields.get("minor")?,
        moved: fields.get("moved")?,
        repeats: repeats.map_err(|_| fields.inconsistent("repeats"))?,
    })
}

fn named(fields: &Fields<'_>) -> Result<(Provider, KnownRefund)> {
    Ok((fields.parse("provider", |t| Provider::parse(t).ok())?, refund(fields)?))
}

fn ids(payments: &[PaymentId]) -> Vec<Uuid> {
    column(payments, |p| p.uuid())
}

#[async_trait]
impl RefundOps for PostgresTx {
    async fn payments_read(&mut self, payments: &[PaymentId]) -> Result<Vec<StoredPayment>> {
        self.read(sqlx::query(READ).bind(ids(payments)), "payment", stored).await
    }

    async fn payments_lock(&mut self, payments: &[PaymentId]) -> Result<()> {
        self.lock(sqlx::query(LOCK).bind(ids(payments))).await
    }

    async fn payments_list(
        &mut self,
        state: Option<MoneyState>,
        before: Option<PaymentId>,
        limit: i64,
    ) -> Result<Vec<StoredPayment>> {
        let list = match state {
            None => LIST,
            Some(MoneyState::Settled) => LIST_SETTLED,
            Some(_) => LIST_OPEN,
        };
        let list = sqlx::query(list).bind(before.map(PaymentId::uuid)).bind(limit);
        let list = match state {
            None => list,
            Some(state) => list.bind(state.as_str()),
        };
        self.read(list, "payment", stored).await
    }

    async fn portions_of(&mut self, payments: &[PaymentId]) -> Result<Vec<(PaymentId, MoneyState, i64)>> {
        self.read(sqlx::query(PORTIONS).bind(ids(payments)), "money_entry", |f| {
            let payment = f.id("payment", PaymentId::from_uuid)?;
            Ok((payment, f.parse("state", MoneyState::parse)?, f.get("minor")?))
        })
        .await
    }

    async fn refunds_put(&mut self, refunds: &[(Provider, KnownRefund)]) -> Result<()> {
        let put = sqlx::query(PUT)
            .bind(column(refunds, |(provider, _)| provider.as_str()))
            .bind(column(refunds, |(_, r)| r.payment.uuid()))
            .bind(column(refunds, |(_, r)| r.teller.as_str()))
            .bind(column(refunds, |(_, r)| r.reference.as_str()))
            .bind(column(refunds, |(_, r)| r.minor))
            .bind(column(refunds, |(_, r)| r.moved))
            .bind(column(refunds, |(_, r)| r.repeats.as_ref().map(Reference::as_str)))
            .bind(self.at());
        self.execute(put).await.map(drop)
    }

    async fn refunds_named(
        &mut self,
        names: &[(Provider, Reference)],
    ) -> Result<Vec<(Provider, KnownRefund)>> {
        let providers = column(names, |(provider, _)| provider.as_str());
        let references = column(names, |(_, reference)| reference.as_str());
        self.read(sqlx::query(NAMED).bind(providers).bind(references), "refund", named).await
    }

    async fn refunds_of(&mut self, payments: &[PaymentId]) -> Result<Vec<KnownRefund>> {
        self.read(sqlx::query(OF).bind(ids(payments)), "refund", refund).await
    }
}
