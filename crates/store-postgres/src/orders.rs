//! Orders, their lines and requests. See [`OrderOps`].

use async_trait::async_trait;
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::money::{Currency, Money};
use tessera_model::order::{Line, Order, OrderStatus};
use tessera_model::place::{Placed, RequestKey};
use tessera_model::text::{CustomerId, Email, Note, ProductName, Sku};
use tessera_model::time::Timestamp;
use tessera_store::Result;
use tessera_store::orders::{Advance, KnownRequest, OrderFilter, OrderOps, ids_created};
use uuid::Uuid;

use crate::encode::{At, column};
use crate::row::Fields;
use crate::tx::{PostgresTx, Statement};

mod instants;
mod sql;
pub(crate) use sql::no_letter;

use instants::Instants;

pub(crate) fn ids(orders: &[OrderId]) -> Vec<Uuid> {
    column(orders, |o| o.uuid())
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
        epoch: fields.small("epoch")?,
        created_at: fields.time("created_at")?,
    })
}

fn line(fields: &Fields<'_>) -> Result<(OrderId, Line)> {
    let line = Line {
        number: fields.small("number")?,
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

/// The columns of [`sql::INSERT`], in its order.
fn insert(placed: &[Placed]) -> Statement {
    let instants = |of| Instants::column(placed, |p| p.order.state, of);
    sqlx::query(sql::INSERT)
        .bind(column(placed, |p| p.order.id.uuid()))
        .bind(column(placed, |p| p.order.version))
        .bind(column(placed, |p| p.order.state.status().as_str()))
        .bind(column(placed, |p| p.lines.iter().map(|l| l.product.uuid()).min()))
        .bind(column(placed, |p| p.order.customer.folded()))
        .bind(column(placed, |p| p.order.customer.given()))
        .bind(column(placed, |p| p.order.email.as_ref().map(Email::as_str)))
        .bind(column(placed, |p| p.order.amount.currency.code()))
        .bind(column(placed, |p| p.order.amount.minor))
        .bind(column(placed, |p| i64::from(p.order.epoch)))
        .bind(column(placed, |p| At(p.order.created_at)))
        .bind(instants(|at| at.hold_expires))
        .bind(instants(|at| at.paid))
}

/// The columns of [`sql::INSERT_LINES`], in its order.
fn insert_lines(placed: &[Placed]) -> Statement {
    let lines: Vec<(Uuid, &Line)> =
        placed.iter().flat_map(|p| p.lines.iter().map(|l| (p.order.id.uuid(), l))).collect();
    sqlx::query(sql::INSERT_LINES)
        .bind(column(&lines, |(order, _)| *order))
        .bind(column(&lines, |(_, l)| i64::from(l.number)))
        .bind(column(&lines, |(_, l)| l.product.uuid()))
        .bind(column(&lines, |(_, l)| l.sku.as_str()))
        .bind(column(&lines, |(_, l)| l.name.as_str()))
        .bind(column(&lines, |(_, l)| l.note.as_str()))
        .bind(column(&lines, |(_, l)| l.quantity))
        .bind(column(&lines, |(_, l)| l.unit_minor))
}

/// The columns of [`sql::ADVANCE`], in its order.
fn advance(advances: &[Advance]) -> Statement {
    let instants = |of| Instants::column(advances, |a| a.state, of);
    sqlx::query(sql::ADVANCE)
        .bind(column(advances, |a| a.id.uuid()))
        .bind(column(advances, |a| a.version))
        .bind(column(advances, |a| a.state.status().as_str()))
        .bind(instants(|at| at.hold_expires))
        .bind(instants(|at| at.paid))
        .bind(instants(|at| at.issued))
        .bind(instants(|at| at.closed))
        .bind(instants(|at| at.refund_due))
        .bind(instants(|at| at.refunded))
}

#[async_trait]
impl OrderOps for PostgresTx {
    async fn requests_claim(&mut self, wanted: &[KnownRequest], stale: Timestamp) -> Result<Vec<[u8; 32]>> {
        let claim = sqlx::query(sql::REQUESTS_CLAIM)
            .bind(column(wanted, |w| w.request.key))
            .bind(column(wanted, |w| w.request.body))
            .bind(column(wanted, |w| w.order.uuid()))
            .bind(self.at())
            .bind(At(stale));
        self.read(claim, "request", |f| f.bytes("key")).await
    }

    async fn requests_read(&mut self, keys: &[[u8; 32]]) -> Result<Vec<KnownRequest>> {
        self.read(sqlx::query(sql::REQUESTS_READ).bind(keys.to_vec()), "request", request).await
    }

    async fn requests_release(&mut self, keys: &[[u8; 32]]) -> Result<()> {
        self.execute(sqlx::query(sql::REQUESTS_RELEASE).bind(keys.to_vec())).await.map(drop)
    }

    async fn requests_purge(&mut self, stale: Timestamp, limit: i64) -> Result<u64> {
        self.execute(sqlx::query(sql::REQUESTS_PURGE).bind(At(stale)).bind(limit)).await
    }

    async fn orders_insert(&mut self, placed: &[Placed]) -> Result<()> {
        self.execute(insert(placed)).await?;
        self.execute(insert_lines(placed)).await.map(drop)
    }

    async fn orders_lock(&mut self, orders: &[OrderId]) -> Result<Vec<Order>> {
        match self.writes() {
            true => self.read(sqlx::query(sql::LOCK).bind(ids(orders)), "orders", order).await,
            false => self.orders_read(orders).await,
        }
    }

    async fn orders_read(&mut self, orders: &[OrderId]) -> Result<Vec<Order>> {
        self.read(sqlx::query(sql::READ).bind(ids(orders)), "orders", order).await
    }

    async fn orders_versions(&mut self, orders: &[OrderId]) -> Result<Vec<(OrderId, i64)>> {
        let versions = sqlx::query(sql::VERSIONS).bind(ids(orders));
        self.read(versions, "orders", |f| Ok((f.id("id", OrderId::from_uuid)?, f.get("version")?))).await
    }

    async fn lines_read(&mut self, orders: &[OrderId]) -> Result<Vec<(OrderId, Line)>> {
        self.read(sqlx::query(sql::LINES).bind(ids(orders)), "order_line", line).await
    }

    async fn orders_advance(&mut self, advances: &[Advance]) -> Result<Vec<OrderId>> {
        self.read(advance(advances), "orders", |f| f.id("id", OrderId::from_uuid)).await
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
            .bind(filter.from.map(At))
            .bind(filter.to.map(At))
            .bind(filter.stuck.map(At));
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
            .bind(At(from))
            .bind(At(to))
            .bind(lowest.uuid())
            .bind(highest.uuid())
            .bind(before.map(OrderId::uuid))
            .bind(limit);
        self.read(created, "orders", order).await
    }

    async fn orders_due(&mut self, now: Timestamp, limit: i64) -> Result<Vec<OrderId>> {
        let due = sqlx::query(sql::DUE).bind(At(now)).bind(limit);
        self.read(due, "orders", |f| f.id("id", OrderId::from_uuid)).await
    }

    async fn orders_unheard(&mut self, before: Timestamp, limit: i64) -> Result<Vec<(OrderId, ProductId)>> {
        self.read(sqlx::query(sql::UNHEARD).bind(At(before)).bind(limit), "orders", routed).await
    }

    async fn orders_products(&mut self, orders: &[OrderId]) -> Result<Vec<(OrderId, ProductId)>> {
        self.read(sqlx::query(sql::PRODUCTS).bind(ids(orders)), "orders", routed).await
    }

    async fn orders_told(&mut self, orders: &[OrderId]) -> Result<()> {
        self.execute(sqlx::query(sql::TOLD).bind(ids(orders)).bind(self.at())).await.map(drop)
    }
}
