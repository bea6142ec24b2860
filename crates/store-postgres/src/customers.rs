//! Customers. See [`CustomerOps`].

use std::collections::BTreeMap;

use async_trait::async_trait;
use tessera_model::ids::ProductId;
use tessera_model::order::OrderStatus;
use tessera_model::place::Standing;
use tessera_model::text::CustomerId;
use tessera_store::Result;
use tessera_store::customers::CustomerOps;

use crate::encode::column;
use crate::row::Fields;
use crate::tx::PostgresTx;

/// Sorted, so that two sets that insert the same customers wait for one another in one order.
const INSERT: &str = "\
    INSERT INTO customer (folded, given, created_at)
    SELECT folded, given, $3 FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS j(folded, given, n)
    ORDER BY folded COLLATE \"C\", n ON CONFLICT DO NOTHING";
const LOCK: &str = "SELECT 1 FROM customer WHERE folded = ANY($1) ORDER BY folded FOR NO KEY UPDATE";
/// Only what this transaction inserted, which nobody else can have seen: another set may stand between its insert,
/// which found the row there, and its lock on it.
const FORGET: &str = "\
    DELETE FROM customer WHERE folded = ANY($1) AND xmin = pg_current_xact_id()::xid
        AND NOT EXISTS (SELECT 1 FROM orders WHERE customer = folded)
        AND NOT EXISTS (SELECT 1 FROM customer_product WHERE customer = folded)";
/// The status is a parameter: as a constant it would let the index of holds serve, which has all unpaid orders of
/// every customer.
const STANDING: &str = "\
    SELECT j.customer,
        (SELECT count(*) FROM orders o WHERE o.customer = j.customer AND o.status = $2) AS open,
        EXISTS (SELECT 1 FROM orders o WHERE o.customer = j.customer
            AND o.status IN ('paid', 'backordered', 'issued', 'refund_due', 'refunded')) AS ever_paid
    FROM unnest($1::text[]) AS j(customer)";
const UNITS: &str = "\
    SELECT c.customer, c.product, c.units FROM customer_product c
    WHERE c.customer = ANY($1) AND c.product = ANY($2)";
/// OFFSET 0 fixes the order: from the customers to their unpaid orders to each one's lines, in every plan.
const OPEN_OF: &str = "\
    SELECT o.customer, l.product, count(*) AS open
    FROM (SELECT id, customer FROM orders WHERE customer = ANY($1) AND status = $3 OFFSET 0) o
    CROSS JOIN LATERAL (SELECT product FROM order_line WHERE order_id = o.id OFFSET 0) l
    WHERE l.product = ANY($2) GROUP BY o.customer, l.product";
const MOVE: &str = "\
    INSERT INTO customer_product (customer, product, units)
    SELECT customer, product, 0 FROM unnest($1::text[], $2::uuid[]) AS j(customer, product)
    ORDER BY customer COLLATE \"C\", product ON CONFLICT DO NOTHING";
const ADD: &str = "\
    UPDATE customer_product SET units = units + moved.delta
    FROM (SELECT customer, product, sum(delta)::bigint AS delta
        FROM unnest($1::text[], $2::uuid[], $3::bigint[]) AS j(customer, product, delta)
        GROUP BY customer, product) AS moved
    WHERE customer_product.customer = moved.customer AND customer_product.product = moved.product";

/// Both in one. A row is held to its CHECKs before it is found to be there already, so only rises may come this way.
const RAISE: &str = "\
    INSERT INTO customer_product (customer, product, units)
    SELECT customer, product, sum(delta)::bigint
    FROM unnest($1::text[], $2::uuid[], $3::bigint[]) AS j(customer, product, delta)
    GROUP BY customer, product ORDER BY customer COLLATE \"C\", product
    ON CONFLICT (customer, product) DO UPDATE SET units = customer_product.units + excluded.units";

const UNPAID: &str = OrderStatus::AwaitingPayment.as_str();

fn folded(customers: &[CustomerId]) -> Vec<String> {
    column(customers, |c| c.folded().to_owned())
}

#[async_trait]
impl CustomerOps for PostgresTx {
    async fn customers_lock(&mut self, customers: &[CustomerId]) -> Result<()> {
        let given = column(customers, |c| c.given().to_owned());
        let insert = sqlx::query(INSERT).bind(folded(customers)).bind(given).bind(self.at());
        self.execute(insert).await?;
        self.lock(sqlx::query(LOCK).bind(folded(customers))).await
    }

    async fn customers_forget(&mut self, customers: &[CustomerId]) -> Result<()> {
        self.execute(sqlx::query(FORGET).bind(folded(customers))).await.map(drop)
    }

    async fn customers_standing(
        &mut self,
        customers: &[CustomerId],
        products: &[ProductId],
    ) -> Result<Vec<(String, Standing)>> {
        let customers = folded(customers);
        let products = column(products, |p| p.uuid());
        let mut known: BTreeMap<String, Standing> = self
            .read(sqlx::query(STANDING).bind(customers.clone()).bind(UNPAID), "customer", |f| {
                let standing =
                    Standing { open: f.get("open")?, ever_paid: f.get("ever_paid")?, ..Standing::default() };
                Ok((f.get("customer")?, standing))
            })
            .await?
            .into_iter()
            .collect();
        let count = |column: &'static str| {
            move |f: &Fields<'_>| {
                let product = f.id("product", ProductId::from_uuid)?;
                Ok((f.get::<String>("customer")?, product, f.get::<i64>(column)?))
            }
        };
        let units = sqlx::query(UNITS).bind(customers.clone()).bind(products.clone());
        for (customer, product, units) in self.read(units, "customer_product", count("units")).await? {
            known.entry(customer).or_default().units.insert(product, units);
        }
        let open = sqlx::query(OPEN_OF).bind(customers).bind(products).bind(UNPAID);
        for (customer, product, open) in self.read(open, "orders", count("open")).await? {
            known.entry(customer).or_default().open_of.insert(product, open);
        }
        Ok(known.into_iter().collect())
    }

    async fn customers_move(&mut self, deltas: &[(CustomerId, ProductId, i64)]) -> Result<()> {
        let customers = column(deltas, |(c, ..)| c.folded().to_owned());
        let products = column(deltas, |(_, p, _)| p.uuid());
        let units = column(deltas, |(.., delta)| *delta);
        if units.iter().all(|delta| *delta >= 0) {
            let raise = sqlx::query(RAISE).bind(customers).bind(products).bind(units);
            return self.execute(raise).await.map(drop);
        }
        // Two statements, for an upsert checks a fall below zero on the row it did not insert.
        self.execute(sqlx::query(MOVE).bind(customers.clone()).bind(products.clone())).await?;
        self.execute(sqlx::query(ADD).bind(customers).bind(products).bind(units)).await.map(drop)
    }
}
