//! Waitlists. See [`WaitlistOps`].

use async_trait::async_trait;
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::issue::Turn;
use tessera_model::time::Timestamp;
use tessera_store::Result;
use tessera_store::waitlists::WaitlistOps;

use crate::encode::{id, set};
use crate::orders::no_letter;
use crate::products::unissued;
use crate::tx::SqliteTx;

/// A join bounded per product: each head is read along the key and handed on as JSON, for SQLite has no
/// LATERAL, and a correlated IN is run again for every row.
const READ: &str = concat!(
    "SELECT unhex(j.value) AS product, head.value->>0 AS paid_at, unhex(head.value->>1) AS order_id \
     FROM json_each(?1) j CROSS JOIN json_each(( \
        SELECT json_group_array(json_array(h.paid_at, hex(h.order_id))) FROM ( \
            SELECT w.paid_at, w.order_id FROM waitlist w WHERE w.product = unhex(j.value) AND ",
    no_letter!("w.order_id"),
    " ORDER BY w.paid_at, w.order_id LIMIT ?2) h)) head ORDER BY product, paid_at, order_id"
);
const OF: &str = "\
    SELECT DISTINCT w.order_id FROM json_each(?1) j JOIN waitlist w ON w.order_id = unhex(j.value)";
const JOIN: &str = "\
    INSERT INTO waitlist (product, paid_at, order_id)
    SELECT unhex(value->>0), value->>1, unhex(value->>2) FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING";
const LEAVE: &str = "DELETE FROM waitlist WHERE order_id IN (SELECT unhex(value) FROM json_each(?1))";
/// CROSS JOIN fixes the order: from the few products to each one's head, never through every order that waits.
const FILLABLE: &str = concat!(
    "SELECT o.id, o.product FROM stock s \
     CROSS JOIN waitlist w ON w.product = s.product AND w.order_id = (SELECT h.order_id FROM waitlist h \
        WHERE h.product = s.product AND ",
    no_letter!("h.order_id"),
    " ORDER BY h.paid_at, h.order_id LIMIT 1) \
     CROSS JOIN orders o ON o.id = w.order_id \
     CROSS JOIN order_line l ON l.order_id = o.id AND l.product = s.product \
     WHERE coalesce(w.told_at, w.paid_at) < ?1 AND l.quantity <= ",
    unissued!(),
    " ORDER BY coalesce(w.told_at, w.paid_at), w.paid_at, w.order_id LIMIT ?2"
);
const TOLD: &str =
    "UPDATE waitlist SET told_at = ?2 WHERE order_id IN (SELECT unhex(value) FROM json_each(?1))";

#[async_trait]
impl WaitlistOps for SqliteTx {
    async fn waitlists_read(&mut self, products: &[ProductId], limit: i64) -> Result<Vec<(ProductId, Turn)>> {
        let products = set(products.iter().map(|p| id(p.uuid())))?;
        self.read(sqlx::query(READ).bind(products).bind(limit), "waitlist", |f| {
            let turn = (f.time("paid_at")?, f.id("order_id", OrderId::from_uuid)?);
            Ok((f.id("product", ProductId::from_uuid)?, turn))
        })
        .await
    }

    async fn waitlists_of(&mut self, orders: &[OrderId]) -> Result<Vec<OrderId>> {
        let orders = set(orders.iter().map(|o| id(o.uuid())))?;
        self.read(sqlx::query(OF).bind(orders), "waitlist", |f| f.id("order_id", OrderId::from_uuid)).await
    }

    async fn waitlists_join(&mut self, joined: &[(ProductId, Turn)]) -> Result<()> {
        let rows = set(joined
            .iter()
            .map(|(product, (paid_at, order))| (id(product.uuid()), paid_at.micros(), id(order.uuid()))))?;
        self.execute(sqlx::query(JOIN).bind(rows)).await.map(drop)
    }

    async fn waitlists_leave(&mut self, orders: &[OrderId]) -> Result<()> {
        let orders = set(orders.iter().map(|o| id(o.uuid())))?;
        self.execute(sqlx::query(LEAVE).bind(orders)).await.map(drop)
    }

    async fn waitlists_fillable(
        &mut self,
        before: Timestamp,
        limit: i64,
    ) -> Result<Vec<(OrderId, ProductId)>> {
        let fillable = sqlx::query(FILLABLE).bind(before.micros()).bind(limit);
        self.read(fillable, "waitlist", |f| {
            Ok((f.id("id", OrderId::from_uuid)?, f.id("product", ProductId::from_uuid)?))
        })
        .await
    }

    async fn waitlists_told(&mut self, orders: &[OrderId]) -> Result<()> {
        let orders = set(orders.iter().map(|o| id(o.uuid())))?;
        self.execute(sqlx::query(TOLD).bind(orders).bind(self.time().micros())).await.map(drop)
    }
}
