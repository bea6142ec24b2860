//! Products and their stock. See [`ProductOps`].

use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use tessera_model::ids::ProductId;
use tessera_model::money::{Currency, Money};
use tessera_model::product::{Kind, Pick, Product, ProductRules, Stock};
use tessera_model::text::{Note, ProductName, Sku};
use tessera_store::Result;
use tessera_store::products::{ProductOps, StockFigures};

use crate::encode::{before, id, set};
use crate::row::Fields;
use crate::tx::SqliteTx;

macro_rules! columns {
    () => {
        "p.id, p.sku, p.name, p.note, p.kind, p.price_minor, p.currency, p.hold_seconds, p.max_per_order, \
         p.per_customer_limit, p.new_customers_only, p.open_orders_per_customer, p.sale_starts_at, \
         p.sale_ends_at, p.backorders, p.pick, p.low_stock_at, p.active"
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
        backorders, pick, low_stock_at, active, created_at, updated_at)
    SELECT unhex(value->>'id'), value->>'sku', value->>'name', value->>'note', value->>'kind',
        value->>'price_minor', value->>'currency', value->>'hold_seconds', value->>'max_per_order',
        value->>'per_customer_limit', value->>'new_customers_only', value->>'open_orders_per_customer',
        value->>'sale_starts_at', value->>'sale_ends_at', value->>'backorders', value->>'pick',
        value->>'low_stock_at', value->>'active', ?2, ?2
    FROM json_each(?1) WHERE true
    ON CONFLICT (id) DO UPDATE SET sku = excluded.sku, name = excluded.name, note = excluded.note,
        kind = excluded.kind, price_minor = excluded.price_minor, currency = excluded.currency,
        hold_seconds = excluded.hold_seconds, max_per_order = excluded.max_per_order,
        per_customer_limit = excluded.per_customer_limit, new_customers_only = excluded.new_customers_only,
        open_orders_per_customer = excluded.open_orders_per_customer,
        sale_starts_at = excluded.sale_starts_at, sale_ends_at = excluded.sale_ends_at,
        backorders = excluded.backorders, pick = excluded.pick, low_stock_at = excluded.low_stock_at,
        active = excluded.active, updated_at = excluded.updated_at";
const PUT_STOCK: &str = "INSERT INTO stock (product) SELECT unhex(value->>'id') FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING";
/// One look through the customers for all products: no index is kept for a question asked so rarely.
const SOLD: &str = "\
    SELECT DISTINCT product AS id FROM customer_product
    WHERE product IN (SELECT unhex(value) FROM json_each(?1))";
const STOCK: &str = concat!(
    "SELECT s.product, s.claimed, ",
    unissued!(),
    " AS unissued FROM json_each(?1) j JOIN stock s ON s.product = unhex(j.value)"
);
const MOVE: &str = "\
    UPDATE stock SET claimed = claimed + moved.delta
    FROM (SELECT unhex(value->>0) AS product, sum(value->>1) AS delta FROM json_each(?1) GROUP BY 1) AS moved
    WHERE stock.product = moved.product";
/// Spans cover what was issued without a gap, so what is not void among them orders have. Backordered orders
/// are found by their waitlists, once for all products.
const FIGURES: &str = concat!(
    "WITH waiting AS MATERIALIZED (SELECT l.product, sum(l.quantity) AS quantity \
        FROM (SELECT DISTINCT order_id FROM waitlist) w \
        CROSS JOIN orders o ON o.id = w.order_id AND o.status = 'backordered' \
        CROSS JOIN order_line l ON l.order_id = o.id GROUP BY l.product), \
     figures AS MATERIALIZED (SELECT p.sku, s.product, s.claimed, ",
    unissued!(),
    " AS unissued, \
        coalesce((SELECT sum(b.issued) FROM batch b WHERE b.product = s.product), 0) AS covered, \
        coalesce((SELECT sum(n.upto - n.start) FROM batch b JOIN span n ON n.batch = b.id \
            WHERE b.product = s.product AND n.kind IN ('void', 'burn')), 0) AS skipped, \
        (SELECT count(*) FROM batch b JOIN voided_position v ON v.batch = b.id \
            WHERE b.product = s.product AND v.position >= b.issued) AS ahead \
        FROM product p JOIN stock s ON s.product = p.id WHERE ?1 IS NULL OR p.sku = ?1) \
     SELECT f.sku, f.claimed, f.unissued, f.covered - f.skipped AS issued, f.skipped + f.ahead AS voided, \
        coalesce(w.quantity, 0) AS backordered \
     FROM figures f LEFT JOIN waiting w ON w.product = f.product ORDER BY f.sku"
);

#[derive(Serialize)]
struct Row<'p> {
    id: String,
    sku: &'p str,
    name: &'p str,
    note: &'p str,
    kind: &'static str,
    price_minor: i64,
    currency: &'p str,
    hold_seconds: u64,
    max_per_order: Option<i64>,
    per_customer_limit: Option<i64>,
    // Numbers, not booleans: the columns are integers.
    new_customers_only: i64,
    open_orders_per_customer: Option<i64>,
    sale_starts_at: Option<i64>,
    sale_ends_at: Option<i64>,
    backorders: i64,
    pick: &'static str,
    low_stock_at: Option<i64>,
    active: i64,
}

fn row(product: &Product) -> Row<'_> {
    let rules = &product.rules;
    Row {
        id: id(product.id.uuid()),
        sku: rules.sku.as_str(),
        name: rules.name.as_str(),
        note: rules.note.as_str(),
        kind: rules.kind.as_str(),
        price_minor: rules.price.minor,
        currency: rules.price.currency.code(),
        hold_seconds: rules.hold.as_secs(),
        max_per_order: rules.max_per_order,
        per_customer_limit: rules.per_customer_limit,
        new_customers_only: rules.new_customers_only.into(),
        open_orders_per_customer: rules.open_orders_per_customer,
        sale_starts_at: rules.sale_starts_at.map(tessera_model::time::Timestamp::micros),
        sale_ends_at: rules.sale_ends_at.map(tessera_model::time::Timestamp::micros),
        backorders: rules.backorders.into(),
        pick: rules.pick.as_str(),
        low_stock_at: rules.low_stock_at,
        active: rules.active.into(),
    }
}

fn product(fields: &Fields<'_>) -> Result<Product> {
    let currency = fields.parse("currency", |t| Currency::parse(t).ok())?;
    let rules = ProductRules {
        sku: fields.parse("sku", |t| Sku::parse(t).ok())?,
        name: fields.parse("name", |t| ProductName::parse(t).ok())?,
        note: fields.parse("note", |t| Note::parse(t).ok())?,
        kind: fields.parse("kind", Kind::parse)?,
        price: Money::new(fields.get("price_minor")?, currency),
        hold: Duration::from_secs(fields.integer("hold_seconds")?),
        max_per_order: fields.get("max_per_order")?,
        per_customer_limit: fields.get("per_customer_limit")?,
        new_customers_only: fields.get("new_customers_only")?,
        open_orders_per_customer: fields.get("open_orders_per_customer")?,
        sale_starts_at: fields.optional_time("sale_starts_at")?,
        sale_ends_at: fields.optional_time("sale_ends_at")?,
        backorders: fields.get("backorders")?,
        pick: fields.parse("pick", Pick::parse)?,
        low_stock_at: fields.get("low_stock_at")?,
        active: fields.get("active")?,
    };
    Ok(Product { id: fields.id("id", ProductId::from_uuid)?, rules })
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
            let stock = Stock { unissued: f.get("unissued")?, claimed: f.get("claimed")? };
            Ok((f.id("product", ProductId::from_uuid)?, stock))
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
                stock: Stock { unissued: f.get("unissued")?, claimed: f.get("claimed")? },
                issued: f.get("issued")?,
                voided: f.get("voided")?,
                backordered: f.get("backordered")?,
            })
        })
        .await
    }
}
