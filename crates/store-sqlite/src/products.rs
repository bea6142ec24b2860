//! Products and their stock. See [`ProductOps`].

use async_trait::async_trait;
use tessera_model::ids::ProductId;
use tessera_model::product::{Product, Stock};
use tessera_model::text::Sku;
use tessera_store::Result;
use tessera_store::products::{ProductOps, StockFigures};

use crate::encode::{before, id, set};
use crate::ledger::{ahead, skipped, taken};
use crate::row::Fields;
use crate::tx::SqliteTx;

mod row;

use row::{product, row};

macro_rules! columns {
    () => {
        "p.id, p.sku, p.name, p.note, p.kind, p.price_minor, p.currency, p.hold_seconds, p.max_per_order, \
         p.per_customer_limit, p.new_customers_only, p.open_orders_per_customer, p.sale_starts_at, \
         p.sale_ends_at, p.backorders, p.pick, p.low_stock_at, p.active, p.coupon_count, p.coupon_format, \
         p.coupon_expires_at, p.raffle_shares, p.raffle_first_number, p.raffle_draw_after, p.raffle_entropy, \
         p.raffle_last_round"
    };
}

/// Codes of a product's open batches that can still be given out.
macro_rules! unissued {
    () => {
        "coalesce((SELECT sum(b.size - b.issued - (SELECT count(*) FROM voided_position v \
           WHERE v.batch = b.id AND v.position >= b.issued)) \
         FROM batch b WHERE b.product = s.product AND b.state = 'open'), 0)"
    };
}
pub(crate) use unissued;

const OF: &str = concat!("SELECT ", columns!(), " FROM json_each(?1) j JOIN product p ON p.sku = j.value");
const READ: &str =
    concat!("SELECT ", columns!(), " FROM json_each(?1) j JOIN product p ON p.id = unhex(j.value)");
const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM product p WHERE p.id < ",
    before!("?1"),
    " ORDER BY p.id DESC LIMIT ?2"
);
const CATALOGUE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM product p WHERE p.active AND p.id < ",
    before!("?1"),
    " ORDER BY p.id DESC LIMIT ?2"
);
const PUT: &str = "\
    INSERT INTO product (id, sku, name, note, kind, price_minor, currency, hold_seconds, max_per_order,
        per_customer_limit, new_customers_only, open_orders_per_customer, sale_starts_at, sale_ends_at,
        backorders, pick, low_stock_at, active, coupon_count, coupon_format, coupon_expires_at, raffle_shares,
        raffle_first_number, raffle_draw_after, raffle_entropy, raffle_last_round, created_at, updated_at)
    SELECT unhex(value->>'id'), value->>'sku', value->>'name', value->>'note', value->>'kind',
        value->>'price_minor', value->>'currency', value->>'hold_seconds', value->>'max_per_order',
        value->>'per_customer_limit', value->>'new_customers_only', value->>'open_orders_per_customer',
        value->>'sale_starts_at', value->>'sale_ends_at', value->>'backorders', value->>'pick',
        value->>'low_stock_at', value->>'active', value->>'coupon_count', value->>'coupon_format',
        value->>'coupon_expires_at', value->>'raffle_shares', value->>'raffle_first_number',
        value->>'raffle_draw_after', value->>'raffle_entropy', value->>'raffle_last_round', ?2, ?2
    FROM json_each(?1) WHERE true
    ON CONFLICT (id) DO UPDATE SET sku = excluded.sku, name = excluded.name, note = excluded.note,
        kind = excluded.kind, price_minor = excluded.price_minor, currency = excluded.currency,
        hold_seconds = excluded.hold_seconds, max_per_order = excluded.max_per_order,
        per_customer_limit = excluded.per_customer_limit, new_customers_only = excluded.new_customers_only,
        open_orders_per_customer = excluded.open_orders_per_customer,
        sale_starts_at = excluded.sale_starts_at, sale_ends_at = excluded.sale_ends_at,
        backorders = excluded.backorders, pick = excluded.pick, low_stock_at = excluded.low_stock_at,
        active = excluded.active, coupon_count = excluded.coupon_count, coupon_format = excluded.coupon_format,
        coupon_expires_at = excluded.coupon_expires_at, raffle_shares = excluded.raffle_shares,
        raffle_first_number = excluded.raffle_first_number, raffle_draw_after = excluded.raffle_draw_after,
        raffle_entropy = excluded.raffle_entropy, raffle_last_round = excluded.raffle_last_round,
        updated_at = excluded.updated_at";
const PUT_STOCK: &str = "INSERT INTO stock (product) SELECT unhex(value->>'id') FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING";
/// One look through the customers for all products: no index is kept for a question asked so rarely.
const SOLD: &str = "\
    SELECT DISTINCT product AS id FROM customer_product
    WHERE product IN (SELECT unhex(value) FROM json_each(?1))";
const STOCK: &str = concat!(
    "SELECT s.product, s.claimed, NOT s.claims AS endless, ",
    unissued!(),
    " AS unissued FROM json_each(?1) j JOIN stock s ON s.product = unhex(j.value)"
);
const MOVE: &str = "\
    UPDATE stock SET claimed = claimed + moved.delta
    FROM (SELECT unhex(value->>0) AS product, sum(value->>1) AS delta FROM json_each(?1) GROUP BY 1) AS moved
    WHERE stock.product = moved.product AND stock.claims";
/// Spans cover what was issued without a gap, so what is not void among them orders have, but for
/// places that were voided after it. Backordered orders
/// are found by their waitlists, once for all products.
const FIGURES: &str = concat!(
    "WITH waiting AS MATERIALIZED (SELECT l.product, sum(l.quantity) AS quantity \
        FROM (SELECT DISTINCT order_id FROM waitlist) w \
        CROSS JOIN orders o ON o.id = w.order_id AND o.status = 'backordered' \
        CROSS JOIN order_line l ON l.order_id = o.id GROUP BY l.product), \
     figures AS MATERIALIZED (SELECT p.sku, s.product, s.claimed, NOT s.claims AS endless, ",
    unissued!(),
    " AS unissued, \
        coalesce((SELECT sum(b.issued) FROM batch b WHERE b.product = s.product), 0) AS covered, \
        coalesce((SELECT sum(",
    skipped!(),
    ") FROM batch b WHERE b.product = s.product), 0) AS skipped, \
        coalesce((SELECT sum(",
    ahead!(),
    ") FROM batch b WHERE b.product = s.product), 0) AS ahead, \
        coalesce((SELECT sum(",
    taken!(),
    ") FROM batch b WHERE b.product = s.product), 0) AS taken \
        FROM product p JOIN stock s ON s.product = p.id WHERE ?1 IS NULL OR p.sku = ?1) \
     SELECT f.sku, f.claimed, f.endless, f.unissued, f.covered - f.skipped - f.taken AS issued, f.skipped + f.ahead + f.taken AS voided, \
        coalesce(w.quantity, 0) AS backordered \
     FROM figures f LEFT JOIN waiting w ON w.product = f.product ORDER BY f.sku"
);

fn stock(fields: &Fields<'_>) -> Result<Stock> {
    let (unissued, claimed) = (fields.get("unissued")?, fields.get("claimed")?);
    Ok(Stock { unissued, claimed, endless: fields.get("endless")? })
}

#[async_trait]
impl ProductOps for SqliteTx {
    async fn products_of(&mut self, skus: &[Sku]) -> Result<Vec<Product>> {
        let skus = set(skus.iter().map(Sku::as_str))?;
        self.read(sqlx::query(OF).bind(skus), "product", product).await
    }

    async fn products_read(&mut self, ids: &[ProductId]) -> Result<Vec<Product>> {
        let ids = set(ids.iter().map(|p| id(p.uuid())))?;
        self.read(sqlx::query(READ).bind(ids), "product", product).await
    }

    async fn products_list(&mut self, before: Option<ProductId>, limit: i64) -> Result<Vec<Product>> {
        let before = before.map(ProductId::uuid);
        self.read(sqlx::query(LIST).bind(before).bind(limit), "product", product).await
    }

    async fn products_catalogue(&mut self, before: Option<ProductId>, limit: i64) -> Result<Vec<Product>> {
        let before = before.map(ProductId::uuid);
        self.read(sqlx::query(CATALOGUE).bind(before).bind(limit), "product", product).await
    }

    async fn products_put(&mut self, products: &[Product]) -> Result<()> {
        let rows = set(products.iter().map(row))?;
        self.execute(sqlx::query(PUT).bind(rows.clone()).bind(self.time().micros())).await?;
        self.execute(sqlx::query(PUT_STOCK).bind(rows)).await?;
        Ok(())
    }

    async fn products_sold(&mut self, ids: &[ProductId]) -> Result<Vec<ProductId>> {
        let ids = set(ids.iter().map(|p| id(p.uuid())))?;
        self.read(sqlx::query(SOLD).bind(ids), "product", |f| f.id("id", ProductId::from_uuid)).await
    }

    async fn stock_lock(&mut self, _ids: &[ProductId]) -> Result<()> {
        Ok(())
    }

    async fn stock_read(&mut self, ids: &[ProductId]) -> Result<Vec<(ProductId, Stock)>> {
        let ids = set(ids.iter().map(|p| id(p.uuid())))?;
        self.read(sqlx::query(STOCK).bind(ids), "stock", |f| {
            Ok((f.id("product", ProductId::from_uuid)?, stock(f)?))
        })
        .await
    }

    async fn stock_move(&mut self, deltas: &[(ProductId, i64)]) -> Result<()> {
        let deltas = set(deltas.iter().map(|(product, delta)| (id(product.uuid()), delta)))?;
        self.execute(sqlx::query(MOVE).bind(deltas)).await.map(drop)
    }

    async fn stock_figures(&mut self, sku: Option<&Sku>) -> Result<Vec<StockFigures>> {
        let sku = sku.map(|s| s.as_str().to_owned());
        self.read(sqlx::query(FIGURES).bind(sku), "stock", |f| {
            Ok(StockFigures {
                sku: f.parse("sku", |t| Sku::parse(t).ok())?,
                stock: stock(f)?,
                issued: f.get("issued")?,
                voided: f.get("voided")?,
                backordered: f.get("backordered")?,
            })
        })
        .await
    }
}
