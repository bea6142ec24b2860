//! Orders, their lines and requests. See [`OrderOps`].

use async_trait::async_trait;
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::money::{Currency, Money};
use tessera_model::order::{Line, Order, OrderState, OrderStatus};
use tessera_model::place::{Placed, RequestKey};
use tessera_model::text::{CustomerId, Email, Note, ProductName, Sku};
use tessera_model::time::Timestamp;
use tessera_store::orders::{Advance, KnownRequest, OrderFilter, OrderOps, ids_created};
use tessera_store::{Result, StoreError};

use crate::encode::{hex, id, set};
use crate::row::Fields;
use crate::tx::SqliteTx;

mod instants;
mod sql;
pub(crate) use sql::no_letter;

use instants::Instants;

fn ids(orders: &[OrderId]) -> Result<String> {
    set(orders.iter().map(|o| id(o.uuid())))
}

fn order(fields: &Fields<'_>) -> Result<Order> {
    let currency = fields.parse("currency", |t| Currency::parse(t).ok())?;
    let email = fields.get::<Option<&str>>("email")?.map(Email::parse).transpose();
    Ok(Order {
        id: fields.id("id", OrderId::from_uuid)?,
        version: fields.get("version")?,
        state: Instants::read(fields)?.state(fields)?,
        customer: CustomerId::from_stored(fields.get("customer")?, fields.get("customer_given")?),
        email: email.map_err(|_| fields.inconsistent("email"))?,
        amount: Money::new(fields.get("amount_minor")?, currency),
        epoch: fields.integer("epoch")?,
        created_at: fields.time("created_at")?,
    })
}

fn line(fields: &Fields<'_>) -> Result<(OrderId, Line)> {
    let line = Line {
        number: fields.integer("number")?,
        product: fields.id("product", ProductId::from_uuid)?,
        sku: fields.parse("sku", |t| Sku::parse(t).ok())?,
        name: fields.parse("name", |t| ProductName::parse(t).ok())?,
        note: fields.parse("note", |t| Note::parse(t).ok())?,
        quantity: fields.get("quantity")?,
        unit_minor: fields.get("unit_minor")?,
    };
    Ok((fields.id("order_id", OrderId::from_uuid)?, line))
}

fn request(fields: &Fields<'_>) -> Result<KnownRequest> {
    let request = RequestKey { key: fields.bytes("key")?, body: fields.bytes("body")? };
    Ok(KnownRequest { request, order: fields.id("order_id", OrderId::from_uuid)? })
}

fn routed(fields: &Fields<'_>) -> Result<(OrderId, ProductId)> {
    Ok((fields.id("id", OrderId::from_uuid)?, fields.id("product", ProductId::from_uuid)?))
}

#[async_trait]
impl OrderOps for SqliteTx {
    async fn requests_claim(&mut self, wanted: &[KnownRequest], stale: Timestamp) -> Result<Vec<[u8; 32]>> {
        let rows =
            set(wanted.iter().map(|w| (hex(&w.request.key), hex(&w.request.body), id(w.order.uuid()))))?;
        let claim = sqlx::query(sql::REQUESTS_CLAIM).bind(rows);
        let claim = claim.bind(self.time().micros()).bind(stale.micros());
        self.read(claim, "request", |f| f.bytes("key")).await
    }

    async fn requests_read(&mut self, keys: &[[u8; 32]]) -> Result<Vec<KnownRequest>> {
        let keys = set(keys.iter().map(|k| hex(k)))?;
        self.read(sqlx::query(sql::REQUESTS_READ).bind(keys), "request", request).await
    }

    async fn requests_release(&mut self, keys: &[[u8; 32]]) -> Result<()> {
        let keys = set(keys.iter().map(|k| hex(k)))?;
        self.execute(sqlx::query(sql::REQUESTS_RELEASE).bind(keys)).await.map(drop)
    }

    async fn requests_purge(&mut self, stale: Timestamp, limit: i64) -> Result<u64> {
        self.execute(sqlx::query(sql::REQUESTS_PURGE).bind(stale.micros()).bind(limit)).await
    }

    async fn orders_insert(&mut self, placed: &[Placed]) -> Result<()> {
        let rows = set(placed.iter().map(|p| {
            let order = &p.order;
            let lowest = p.lines.iter().map(|l| l.product).min().map(|p| id(p.uuid()));
            (
                (id(order.id.uuid()), order.version, order.state.status().as_str(), lowest),
                (order.customer.folded(), order.customer.given(), order.email.as_ref().map(Email::as_str)),
                (order.amount.currency.code(), order.amount.minor, order.epoch),
                (order.created_at.micros(), Instants::of(order.state)),
            )
        }))?;
        self.execute(sqlx::query(sql::INSERT).bind(rows)).await?;
        let lines = set(placed.iter().flat_map(|p| {
            p.lines.iter().map(|l| {
                let of = (id(p.order.id.uuid()), l.number, id(l.product.uuid()));
                (of, l.sku.as_str(), l.name.as_str(), l.note.as_str(), l.quantity, l.unit_minor)
            })
        }))?;
        self.execute(sqlx::query(sql::INSERT_LINES).bind(lines)).await.map(drop)
    }

    async fn orders_lock(&mut self, orders: &[OrderId]) -> Result<Vec<Order>> {
        self.orders_read(orders).await
    }

    async fn orders_read(&mut self, orders: &[OrderId]) -> Result<Vec<Order>> {
        self.read(sqlx::query(sql::READ).bind(ids(orders)?), "orders", order).await
    }

    async fn orders_versions(&mut self, orders: &[OrderId]) -> Result<Vec<(OrderId, i64)>> {
        let versions = sqlx::query(sql::VERSIONS).bind(ids(orders)?);
        self.read(versions, "orders", |f| Ok((f.id("id", OrderId::from_uuid)?, f.get("version")?))).await
    }

    async fn lines_read(&mut self, orders: &[OrderId]) -> Result<Vec<(OrderId, Line)>> {
        self.read(sqlx::query(sql::LINES).bind(ids(orders)?), "order_line", line).await
    }

    async fn orders_advance(&mut self, advances: &[Advance]) -> Result<Vec<OrderId>> {
        let rows = set(advances
            .iter()
            .map(|a| (id(a.id.uuid()), a.version, a.state.status().as_str(), Instants::of(a.state))))?;
        self.read(sqlx::query(sql::ADVANCE).bind(rows), "orders", |f| f.id("id", OrderId::from_uuid)).await
    }

    async fn orders_list(&mut self, filter: &OrderFilter, limit: i64) -> Result<Vec<Order>> {
        let list = match filter {
            OrderFilter { id: Some(_), .. } => sql::LIST_BY_ID,
            OrderFilter { reference: Some(_), .. } => sql::LIST_BY_REFERENCE,
            OrderFilter { customer: Some(_), .. } => sql::LIST_BY_CUSTOMER,
            OrderFilter { .. } => sql::LIST,
        };
        let list = sqlx::query(list)
            .bind(filter.id.map(OrderId::uuid))
            .bind(filter.status.map(OrderStatus::as_str))
            .bind(filter.customer.as_ref().map(|c| c.folded().to_owned()))
            .bind(filter.reference.as_ref().map(|r| r.as_str().to_owned()))
            .bind(filter.before.map(OrderId::uuid))
            .bind(limit)
            .bind(filter.from.map(Timestamp::micros))
            .bind(filter.to.map(Timestamp::micros))
            .bind(filter.stuck.map(Timestamp::micros));
        self.read(list, "orders", order).await
    }

    async fn orders_created(
        &mut self,
        from: Timestamp,
        to: Timestamp,
        before: Option<OrderId>,
        limit: i64,
    ) -> Result<Vec<Order>> {
        let (lowest, highest) = ids_created(from, to);
        let created = sqlx::query(sql::CREATED)
            .bind(from.micros())
            .bind(to.micros())
            .bind(lowest.uuid())
            .bind(highest.uuid())
            .bind(before.map(OrderId::uuid))
            .bind(limit);
        self.read(created, "orders", order).await
    }

    async fn orders_due(&mut self, now: Timestamp, limit: i64) -> Result<Vec<OrderId>> {
        let due = sqlx::query(sql::DUE).bind(now.micros()).bind(limit);
        self.read(due, "orders", |f| f.id("id", OrderId::from_uuid)).await
    }

    async fn orders_unheard(&mut self, before: Timestamp, limit: i64) -> Result<Vec<(OrderId, ProductId)>> {
        self.read(sqlx::query(sql::UNHEARD).bind(before.micros()).bind(limit), "orders", routed).await
    }

    async fn orders_products(&mut self, orders: &[OrderId]) -> Result<Vec<(OrderId, ProductId)>> {
        self.read(sqlx::query(sql::PRODUCTS).bind(ids(orders)?), "orders", routed).await
    }

    async fn orders_told(&mut self, orders: &[OrderId]) -> Result<()> {
        let told = sqlx::query(sql::TOLD).bind(ids(orders)?).bind(self.time().micros());
        self.execute(told).await.map(drop)
    }
}

/// What a row's instants lack for its status; the schema's CHECKs keep this from happening.
fn missing(fields: &Fields<'_>) -> StoreError {
    fields.inconsistent("status")
}

fn state(status: OrderStatus, at: &Instants, fields: &Fields<'_>) -> Result<OrderState> {
    let need = |instant: Option<i64>| instant.map(Timestamp::from_micros).ok_or_else(|| missing(fields));
    let issued_at = at.issued.map(Timestamp::from_micros);
    Ok(match status {
        OrderStatus::AwaitingPayment => {
            OrderState::AwaitingPayment { hold_expires_at: need(at.hold_expires)? }
        }
        OrderStatus::Paid => OrderState::Paid { paid_at: need(at.paid)? },
        OrderStatus::Backordered => OrderState::Backordered { paid_at: need(at.paid)? },
        OrderStatus::Issued => OrderState::Issued { paid_at: need(at.paid)?, issued_at: need(at.issued)? },
        OrderStatus::Expired => OrderState::Expired { closed_at: need(at.closed)? },
        OrderStatus::Cancelled => OrderState::Cancelled { closed_at: need(at.closed)? },
        OrderStatus::RefundDue => {
            OrderState::RefundDue { paid_at: need(at.paid)?, issued_at, refund_due_at: need(at.refund_due)? }
        }
        OrderStatus::Refunded => OrderState::Refunded {
            paid_at: need(at.paid)?,
            issued_at,
            refund_due_at: need(at.refund_due)?,
            refunded_at: need(at.refunded)?,
        },
    })
}
