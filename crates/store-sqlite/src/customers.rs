//! Customers. See [`CustomerOps`].

use std::collections::BTreeMap;

use async_trait::async_trait;
use tessera_model::ids::ProductId;
use tessera_model::place::Standing;
use tessera_model::text::CustomerId;
use tessera_store::Result;
use tessera_store::customers::CustomerOps;

use crate::encode::{id, set};
use crate::tx::SqliteTx;

const LOCK: &str = "\
    INSERT INTO customer (folded, given, created_at)
    SELECT value->>0, value->>1, ?2 FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING";
const FORGET: &str = "\
    DELETE FROM customer WHERE folded IN (SELECT value FROM json_each(?1))
        AND NOT EXISTS (SELECT 1 FROM orders WHERE customer = folded)
        AND NOT EXISTS (SELECT 1 FROM customer_product WHERE customer = folded)";
const STANDING: &str = "\
    SELECT j.value AS customer,
        (SELECT count(*) FROM orders o WHERE o.customer = j.value AND o.status = 'awaiting_payment') AS open,
        EXISTS (SELECT 1 FROM orders o WHERE o.customer = j.value
            AND o.status IN ('paid', 'backordered', 'issued', 'refund_due', 'refunded')) AS ever_paid
    FROM json_each(?1) j";
const UNITS: &str = "\
    SELECT c.customer, c.product, c.units FROM json_each(?1) j JOIN customer_product c ON c.customer = j.value
    WHERE c.product IN (SELECT unhex(value) FROM json_each(?2))";
const OPEN_OF: &str = "\
    SELECT o.customer, l.product, count(*) AS open FROM json_each(?1) j
    JOIN orders o ON o.customer = j.value AND o.status = 'awaiting_payment'
    JOIN order_line l ON l.order_id = o.id
    WHERE l.product IN (SELECT unhex(value) FROM json_each(?2)) GROUP BY o.customer, l.product";
const MOVE: &str = "\
    INSERT INTO customer_product (customer, product, units)
    SELECT value->>0, unhex(value->>1), max(value->>2, 0) FROM json_each(?1) WHERE true
    ON CONFLICT DO NOTHING";
const ADD: &str = "\
    UPDATE customer_product SET units = units + moved.delta
    FROM (SELECT value->>0 AS customer, unhex(value->>1) AS product, sum(value->>2) AS delta
        FROM json_each(?1) GROUP BY 1, 2) AS moved
    WHERE customer_product.customer = moved.customer AND customer_product.product = moved.product";

#[async_trait]
impl CustomerOps for SqliteTx {
    async fn customers_lock(&mut self, customers: &[CustomerId]) -> Result<()> {
        let rows = set(customers.iter().map(|c| (c.folded(), c.given())))?;
        self.execute(sqlx::query(LOCK).bind(rows).bind(self.time().micros())).await.map(drop)
    }

    async fn customers_forget(&mut self, customers: &[CustomerId]) -> Result<()> {
        let folded = set(customers.iter().map(CustomerId::folded))?;
        self.execute(sqlx::query(FORGET).bind(folded)).await.map(drop)
    }

    async fn customers_standing(
        &mut self,
        customers: &[CustomerId],
        products: &[ProductId],
    ) -> Result<Vec<(String, Standing)>> {
        let folded = set(customers.iter().map(CustomerId::folded))?;
        let products = set(products.iter().map(|p| id(p.uuid())))?;
        let mut known: BTreeMap<String, Standing> = self
            .read(sqlx::query(STANDING).bind(folded.clone()), "customer", |f| {
                let standing =
                    Standing { open: f.get("open")?, ever_paid: f.get("ever_paid")?, ..Standing::default() };
                Ok((f.get("customer")?, standing))
            })
            .await?
            .into_iter()
            .collect();
        let count = |column: &'static str| {
            move |f: &crate::row::Fields<'_>| {
                let product = f.id("product", ProductId::from_uuid)?;
                Ok((f.get::<String>("customer")?, product, f.get::<i64>(column)?))
            }
        };
        let units = sqlx::query(UNITS).bind(folded.clone()).bind(products.clone());
        for (customer, product, units) in self.read(units, "customer_product", count("units")).await? {
            known.entry(customer).or_default().units.insert(product, units);
        }
        let open = sqlx::query(OPEN_OF).bind(folded).bind(products);
        for (customer, product, open) in self.read(open, "orders", count("open")).await? {
            known.entry(customer).or_default().open_of.insert(product, open);
        }
        Ok(known.into_iter().collect())
    }

    async fn customers_move(&mut self, deltas: &[(CustomerId, ProductId, i64)]) -> Result<()> {
        // Two statements, for an upsert checks a fall below zero on the row it did not insert.
        let new = set(deltas.iter().map(|(c, p, _)| (c.folded(), id(p.uuid()), 0)))?;
        self.execute(sqlx::query(MOVE).bind(new)).await?;
        let rows = set(deltas.iter().map(|(c, p, delta)| (c.folded(), id(p.uuid()), delta)))?;
        self.execute(sqlx::query(ADD).bind(rows)).await.map(drop)
    }
}
