//! The statements on products and stock.

use crate::encode::before;
use crate::ledger::{ahead, skipped, taken};

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
         FROM batch b WHERE b.product = s.product AND b.state = 'open'), 0)::bigint"
    };
}
pub(crate) use unissued;

pub(super) const OF: &str = concat!("SELECT ", columns!(), " FROM product p WHERE p.sku = ANY($1)");
pub(super) const READ: &str = concat!("SELECT ", columns!(), " FROM product p WHERE p.id = ANY($1)");
pub(super) const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM product p WHERE p.id < ",
    before!("$1"),
    " ORDER BY p.id DESC LIMIT $2"
);
pub(super) const CATALOGUE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM product p WHERE p.active AND p.id < ",
    before!("$1"),
    " ORDER BY p.id DESC LIMIT $2"
);
/// The last of a product's rows counts: an upsert may meet a row only once.
pub(super) const PUT: &str = "\
    INSERT INTO product (id, sku, name, note, kind, price_minor, currency, hold_seconds, max_per_order,
        per_customer_limit, new_customers_only, open_orders_per_customer, sale_starts_at, sale_ends_at,
        backorders, pick, low_stock_at, active, coupon_count, coupon_format, coupon_expires_at, raffle_shares,
        raffle_first_number, raffle_draw_after, raffle_entropy, raffle_last_round, created_at, updated_at)
    SELECT DISTINCT ON (c1) c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18,
        c19, c20, c21, c22, c23, c24, c25, c26, $1, $1
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[],
        $9::bigint[], $10::bigint[], $11::bigint[], $12::boolean[], $13::bigint[], $14::timestamptz[],
        $15::timestamptz[], $16::boolean[], $17::text[], $18::bigint[], $19::boolean[], $20::bigint[], $21::text[],
        $22::timestamptz[], $23::bigint[], $24::bigint[], $25::bigint[], $26::text[], $27::bigint[]) WITH ORDINALITY
        AS j(c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20,
            c21, c22, c23, c24, c25, c26, n)
    ORDER BY c1, n DESC
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
pub(super) const PUT_STOCK: &str = "\
    INSERT INTO stock (product) SELECT id FROM unnest($1::uuid[]) AS j(id) ORDER BY id ON CONFLICT DO NOTHING";
/// One look through the customers for all products: no index is kept for a question asked so rarely.
pub(super) const SOLD: &str = "SELECT DISTINCT product AS id FROM customer_product WHERE product = ANY($1)";
/// Sorted below the lock, so that rows are locked in the order of their ids.
pub(super) const STOCK_LOCK: &str =
    "SELECT 1 FROM stock WHERE product = ANY($1) ORDER BY product FOR NO KEY UPDATE";
pub(super) const STOCK: &str = concat!(
    "SELECT s.product, s.claimed, NOT s.claims AS endless, ",
    unissued!(),
    " AS unissued FROM stock s WHERE s.product = ANY($1)"
);
pub(super) const MOVE: &str = "\
    UPDATE stock SET claimed = claimed + moved.delta
    FROM (SELECT product, sum(delta)::bigint AS delta FROM unnest($1::uuid[], $2::bigint[]) AS j(product, delta)
        GROUP BY product) AS moved
    WHERE stock.product = moved.product AND stock.claims";
/// Spans cover what was issued without a gap, so what is not void among them orders have, but for
/// places that were voided after it. Backordered orders
/// are found by their waitlists, once for all products.
pub(super) const FIGURES: &str = concat!(
    "WITH waiting AS MATERIALIZED (SELECT l.product, sum(l.quantity) AS quantity \
        FROM (SELECT DISTINCT order_id FROM waitlist) w \
        JOIN orders o ON o.id = w.order_id AND o.status = 'backordered' \
        JOIN order_line l ON l.order_id = o.id GROUP BY l.product), \
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
        FROM product p JOIN stock s ON s.product = p.id WHERE $1::text IS NULL OR p.sku = $1) \
     SELECT f.sku, f.claimed, f.endless, f.unissued, (f.covered - f.skipped - f.taken)::bigint AS issued, \
        (f.skipped + f.ahead + f.taken)::bigint AS voided, coalesce(w.quantity, 0)::bigint AS backordered \
     FROM figures f LEFT JOIN waiting w ON w.product = f.product ORDER BY f.sku"
);
