//! Payments as operators look at them, and refunds. See [`RefundOps`].

use async_trait::async_trait;
use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::pay::{KnownRefund, MoneyState, PaymentReason, Teller};
use tessera_model::text::{Provider, Reference};
use tessera_store::Result;
use tessera_store::refunds::{RefundOps, StoredPayment};

use crate::encode::{before, id, set};
use crate::payments::payment;
use crate::row::Fields;
use crate::tx::SqliteTx;

macro_rules! columns {
    () => {
        "SELECT p.id, p.provider, p.reference, p.order_reference, p.order_id, p.minor, p.currency, p.paid_at, \
         p.received_at, p.reason FROM "
    };
}
const READ: &str = concat!(columns!(), "json_each(?1) j JOIN payment p ON p.id = unhex(j.value)");
const LIST: &str =
    concat!(columns!(), "payment p WHERE p.id < ", before!("?1"), " ORDER BY p.id DESC LIMIT ?2");
/// Most payments have settled money, so the newest are looked through.
const LIST_SETTLED: &str = concat!(
    columns!(),
    "payment p WHERE p.id < ",
    before!("?1"),
    " AND (SELECT sum(amount) FROM money_entry WHERE payment = p.id AND state = ?3) <> 0 \
     ORDER BY p.id DESC LIMIT ?2"
);
/// Few have any other, so those are looked up; that the state is another is said for the index.
const LIST_OPEN: &str = concat!(
    columns!(),
    "(SELECT payment FROM money_entry WHERE state = ?3 AND state <> 'settled' AND payment < ",
    before!("?1"),
    " GROUP BY payment HAVING sum(amount) <> 0 ORDER BY payment DESC LIMIT ?2) m \
     JOIN payment p ON p.id = m.payment ORDER BY p.id DESC"
);
const PORTIONS: &str = "\
    SELECT m.payment, m.state, sum(m.amount) AS minor
    FROM json_each(?1) j JOIN money_entry m ON m.payment = unhex(j.value)
    GROUP BY m.payment, m.state HAVING sum(m.amount) <> 0";
const PUT: &str = "\
    INSERT INTO refund (provider, payment, teller, reference, minor, moved, repeats, at)
    SELECT value->>0, unhex(value->>1), value->>2, value->>3, value->>4, value->>5, value->>6, ?2
    FROM json_each(?1) ORDER BY key";
const NAMED: &str = "\
    SELECT r.provider, r.payment, r.teller, r.reference, r.minor, r.moved, r.repeats FROM json_each(?1) j
    JOIN refund r ON r.teller = 'operator' AND r.provider = j.value->>0 AND r.reference = j.value->>1";
const OF: &str = "\
    SELECT r.payment, r.teller, r.reference, r.minor, r.moved, r.repeats FROM json_each(?1) j
    JOIN refund r ON r.payment = unhex(j.value) ORDER BY r.id";

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

fn ids(payments: &[PaymentId]) -> Result<String> {
    set(payments.iter().map(|p| id(p.uuid())))
}

#[async_trait]
impl RefundOps for SqliteTx {
    async fn payments_read(&mut self, payments: &[PaymentId]) -> Result<Vec<StoredPayment>> {
        self.read(sqlx::query(READ).bind(ids(payments)?), "payment", stored).await
    }

    async fn payments_lock(&mut self, _payments: &[PaymentId]) -> Result<()> {
        Ok(())
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
        self.read(sqlx::query(PORTIONS).bind(ids(payments)?), "money_entry", |f| {
            let payment = f.id("payment", PaymentId::from_uuid)?;
            Ok((payment, f.parse("state", MoneyState::parse)?, f.get("minor")?))
        })
        .await
    }

    async fn refunds_put(&mut self, refunds: &[(Provider, KnownRefund)]) -> Result<()> {
        let rows = set(refunds.iter().map(|(provider, r)| {
            let names = (r.teller.as_str(), r.reference.as_str(), r.repeats.as_ref().map(Reference::as_str));
            (provider.as_str(), id(r.payment.uuid()), names.0, names.1, r.minor, r.moved, names.2)
        }))?;
        self.execute(sqlx::query(PUT).bind(rows).bind(self.time().micros())).await.map(drop)
    }

    async fn refunds_named(
        &mut self,
        names: &[(Provider, Reference)],
    ) -> Result<Vec<(Provider, KnownRefund)>> {
        let names = set(names.iter().map(|(p, r)| (p.as_str(), r.as_str())))?;
        self.read(sqlx::query(NAMED).bind(names), "refund", named).await
    }

    async fn refunds_of(&mut self, payments: &[PaymentId]) -> Result<Vec<KnownRefund>> {
        self.read(sqlx::query(OF).bind(ids(payments)?), "refund", refund).await
    }
}
