//! What happened to one order. See [`HistoryOps`].

use async_trait::async_trait;
use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::pay::MoneyState;
use tessera_model::text::{Provider, Reference};
use tessera_model::time::Timestamp;
use tessera_store::Result;
use tessera_store::history::{HistoryOps, MoneyMoved};
use tessera_store::letters::Letter;
use tessera_store::operators::AuditEntry;

use crate::letters::{OF_ORDER, letter};
use crate::row::Fields;
use crate::tx::PostgresTx;

const MONEY: &str = "\
    SELECT m.at, p.id, p.provider, p.reference, m.amount, m.state
    FROM payment p JOIN money_entry m ON m.payment = p.id WHERE p.order_id = $1 ORDER BY m.seq LIMIT $2";
const AUDIT: &str = "SELECT at, actor, action, subject, reason FROM audit WHERE subject COLLATE \"C\" = $1 ORDER BY seq LIMIT $2";
const REISSUE: &str =
    "UPDATE orders SET epoch = epoch + 1, version = version + 1 WHERE id = $1 RETURNING epoch";

fn money(fields: &Fields<'_>) -> Result<MoneyMoved> {
    Ok(MoneyMoved {
        at: fields.time("at")?,
        payment: fields.id("id", PaymentId::from_uuid)?,
        provider: fields.parse("provider", |t| Provider::parse(t).ok())?,
        reference: fields.parse("reference", |t| Reference::parse(t).ok())?,
        amount: fields.get("amount")?,
        state: fields.parse("state", MoneyState::parse)?,
    })
}

fn entry(fields: &Fields<'_>) -> Result<(Timestamp, AuditEntry)> {
    let entry = AuditEntry {
        actor: fields.get("actor")?,
        action: fields.get("action")?,
        subject: fields.get("subject")?,
        reason: fields.get("reason")?,
    };
    Ok((fields.time("at")?, entry))
}

#[async_trait]
impl HistoryOps for PostgresTx {
    async fn money_history(&mut self, order: OrderId, limit: i64) -> Result<Vec<MoneyMoved>> {
        self.read(sqlx::query(MONEY).bind(order.uuid()).bind(limit), "money_entry", money).await
    }

    async fn audit_of(&mut self, subject: &str, limit: i64) -> Result<Vec<(Timestamp, AuditEntry)>> {
        self.read(sqlx::query(AUDIT).bind(subject.to_owned()).bind(limit), "audit", entry).await
    }

    async fn letters_of(&mut self, order: OrderId) -> Result<Vec<Letter>> {
        self.read(sqlx::query(OF_ORDER).bind(order.uuid()), "dead_letter", letter).await
    }

    async fn orders_reissue(&mut self, order: OrderId) -> Result<Option<i32>> {
        let row = self.one(sqlx::query(REISSUE).bind(order.uuid())).await?;
        row.map(|row| Fields::of(&row, "orders").small("epoch")).transpose()
    }
}
