//! Waitlists. See [`WaitlistOps`].

use async_trait::async_trait;
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::issue::Turn;
use tessera_model::time::Timestamp;
use tessera_store::Result;
use tessera_store::waitlists::WaitlistOps;

use crate::encode::{At, column};
use crate::orders::{ids, no_letter};
use crate::products::unissued;
use crate::tx::PostgresTx;

/// A join bounded per product: each head is read along the key.
const READ: &str = concat!(
    "SELECT j.product, head.paid_at, head.order_id FROM unnest($1::uuid[]) AS j(product) \
     CROSS JOIN LATERAL (SELECT w.paid_at, w.order_id FROM waitlist w WHERE w.product = j.product AND ",
    no_letter!("w.order_id"),
    " ORDER BY w.paid_at, w.order_id LIMIT $2) head ORDER BY j.product, head.paid_at, head.order_id"
);
const OF: &str = "SELECT DISTINCT w.order_id FROM waitlist w WHERE w.order_id = ANY($1)";
const JOIN: &str = "\
    INSERT INTO waitlist (product, paid_at, order_id)
    SELECT product, paid_at, order_id FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[])
        AS j(product, paid_at, order_id)
    ORDER BY order_id, product ON CONFLICT DO NOTHING";
const LEAVE: &str = "DELETE FROM waitlist WHERE order_id = ANY($1)";
/// LATERAL fixes the order: from the few products to each one's head, never through every order that waits.
const FILLABLE: &str = concat!(
    "SELECT o.id, o.product FROM stock s \
     CROSS JOIN LATERAL (SELECT h.order_id, h.told_at, h.paid_at FROM waitlist h WHERE h.product = s.product AND ",
    no_letter!("h.order_id"),
    " ORDER BY h.paid_at, h.order_id LIMIT 1) w \
     CROSS JOIN LATERAL (SELECT id, product FROM orders WHERE id = w.order_id OFFSET 0) o \
     CROSS JOIN LATERAL (SELECT quantity FROM order_line \
        WHERE order_id = w.order_id AND product = s.product OFFSET 0) l \
     WHERE coalesce(w.told_at, w.paid_at) < $1 AND l.quantity <= ",
    unissued!(),
    " ORDER BY coalesce(w.told_at, w.paid_at), w.paid_at, w.order_id LIMIT $2"
);
/// Rows that the issuer holds are passed over: it is at them already, and would wait for us while we wait for it.
const TOLD: &str = "\
    WITH told AS MATERIALIZED (SELECT order_id, product FROM waitlist WHERE order_id = ANY($1)
        FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE waitlist w SET told_at = $2 FROM told
    WHERE w.order_id = told.order_id AND w.product = told.product";

#[async_trait]
impl WaitlistOps for PostgresTx {
    async fn waitlists_read(&mut self, products: &[ProductId], limit: i64) -> Result<Vec<(ProductId, Turn)>> {
        let read = sqlx::query(READ).bind(column(products, |p| p.uuid())).bind(limit);
        self.read(read, "waitlist", |f| {
            let turn = (f.time("paid_at")?, f.id("order_id", OrderId::from_uuid)?);
            Ok((f.id("product", ProductId::from_uuid)?, turn))
        })
        .await
    }

    async fn waitlists_of(&mut self, orders: &[OrderId]) -> Result<Vec<OrderId>> {
        let of = sqlx::query(OF).bind(ids(orders));
        self.read(of, "waitlist", |f| f.id("order_id", OrderId::from_uuid)).await
    }

    async fn waitlists_join(&mut self, joined: &[(ProductId, Turn)]) -> Result<()> {
        let join = sqlx::query(JOIN)
            .bind(column(joined, |(product, _)| product.uuid()))
            .bind(column(joined, |(_, (paid_at, _))| At(*paid_at)))
            .bind(column(joined, |(_, (_, order))| order.uuid()));
        self.execute(join).await.map(drop)
    }

    async fn waitlists_leave(&mut self, orders: &[OrderId]) -> Result<()> {
        self.execute(sqlx::query(LEAVE).bind(ids(orders))).await.map(drop)
    }

    async fn waitlists_fillable(
        &mut self,
        before: Timestamp,
        limit: i64,
    ) -> Result<Vec<(OrderId, ProductId)>> {
        let fillable = sqlx::query(FILLABLE).bind(At(before)).bind(limit);
        self.read(fillable, "waitlist", |f| {
            Ok((f.id("id", OrderId::from_uuid)?, f.id("product", ProductId::from_uuid)?))
        })
        .await
    }

    async fn waitlists_told(&mut self, orders: &[OrderId]) -> Result<()> {
        self.execute(sqlx::query(TOLD).bind(ids(orders)).bind(self.at())).await.map(drop)
    }
}
