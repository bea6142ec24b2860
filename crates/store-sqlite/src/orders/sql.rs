//! The statements on orders.

use crate::encode::before;

macro_rules! columns {
    () => {
        "o.id, o.version, o.status, o.customer, o.customer_given, o.email, o.currency, o.amount_minor, \
         o.epoch, o.created_at, o.hold_expires_at, o.paid_at, o.issued_at, o.closed_at, o.refund_due_at, \
         o.refunded_at"
    };
}

/// An order's letter keeps the sweeper off.
macro_rules! no_letter {
    ($order:literal) => {
        concat!(
            "NOT EXISTS (SELECT 1 FROM dead_letter d WHERE d.order_id = ",
            $order,
            " AND d.state IN ('open', 'replaying'))"
        )
    };
}
pub(crate) use no_letter;

pub(super) const REQUESTS_CLAIM: &str = "\
    INSERT INTO request (key, body, order_id, created_at)
    SELECT unhex(value->>0), unhex(value->>1), unhex(value->>2), ?2 FROM json_each(?1) WHERE true
    ON CONFLICT (key) DO UPDATE SET body = excluded.body, order_id = excluded.order_id,
        created_at = excluded.created_at WHERE created_at < ?3
    RETURNING key";
pub(super) const REQUESTS_READ: &str = "\
    SELECT r.key, r.body, r.order_id FROM json_each(?1) j JOIN request r ON r.key = unhex(j.value)";
pub(super) const REQUESTS_RELEASE: &str =
    "DELETE FROM request WHERE key IN (SELECT unhex(value) FROM json_each(?1))";
pub(super) const REQUESTS_PURGE: &str = "\
    DELETE FROM request WHERE key IN (SELECT key FROM request WHERE created_at < ?1 LIMIT ?2)";

pub(super) const INSERT: &str = "\
    INSERT INTO orders (id, version, status, product, customer, customer_given, email, currency,
        amount_minor, epoch, created_at, hold_expires_at, paid_at)
    SELECT unhex(value->>'$[0][0]'), value->>'$[0][1]', value->>'$[0][2]', unhex(value->>'$[0][3]'),
        value->>'$[1][0]', value->>'$[1][1]', value->>'$[1][2]',
        value->>'$[2][0]', value->>'$[2][1]', value->>'$[2][2]',
        value->>'$[3][0]', value->>'$[3][1].hold_expires', value->>'$[3][1].paid'
    FROM json_each(?1)";
pub(super) const INSERT_LINES: &str = "\
    INSERT INTO order_line (order_id, number, product, sku, name, note, quantity, unit_minor)
    SELECT unhex(value->>'$[0][0]'), value->>'$[0][1]', unhex(value->>'$[0][2]'), value->>1, value->>2,
        value->>3, value->>4, value->>5
    FROM json_each(?1)";
pub(super) const READ: &str =
    concat!("SELECT ", columns!(), " FROM json_each(?1) j JOIN orders o ON o.id = unhex(j.value)");
pub(super) const VERSIONS: &str =
    "SELECT o.id, o.version FROM json_each(?1) j JOIN orders o ON o.id = unhex(j.value)";
pub(super) const PRODUCTS: &str =
    "SELECT o.id, o.product FROM json_each(?1) j JOIN orders o ON o.id = unhex(j.value)";
pub(super) const LINES: &str = "\
    SELECT l.order_id, l.number, l.product, l.sku, l.name, l.note, l.quantity, l.unit_minor
    FROM json_each(?1) j JOIN order_line l ON l.order_id = unhex(j.value) ORDER BY l.order_id, l.number";
pub(super) const ADVANCE: &str = "\
    UPDATE orders SET version = orders.version + 1, status = next.status, hold_expires_at = next.at->>'hold_expires',
        paid_at = next.at->>'paid', issued_at = next.at->>'issued', closed_at = next.at->>'closed',
        refund_due_at = next.at->>'refund_due', refunded_at = next.at->>'refunded'
    FROM (SELECT unhex(value->>0) AS id, value->>1 AS version, value->>2 AS status, value->3 AS at
        FROM json_each(?1)) AS next
    WHERE orders.id = next.id AND orders.version = next.version
    RETURNING id";
/// Paid too long ago to be without codes, or with a letter that keeps it so.
macro_rules! stuck {
    () => {
        "o.id IN (SELECT s.id FROM orders s WHERE s.status = 'paid' AND s.paid_at < ?9 \
           UNION SELECT d.order_id FROM dead_letter d WHERE d.order_id IS NOT NULL \
             AND d.state IN ('open', 'replaying'))"
    };
}
/// A list that is looked up by one part of its filter, and held to the others.
macro_rules! list {
    ($by:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM orders o WHERE ",
            $by,
            " AND (?1 IS NULL OR o.id = ?1) AND (?2 IS NULL OR o.status = ?2) \
              AND (?3 IS NULL OR o.customer = ?3) \
              AND (?4 IS NULL OR o.id IN (SELECT p.order_id FROM payment p WHERE p.reference = ?4)) \
              AND o.id < ",
            before!("?5"),
            " AND (?7 IS NULL OR o.created_at >= ?7) AND (?8 IS NULL OR o.created_at < ?8) \
               AND (?9 IS NULL OR ",
            stuck!(),
            ") ORDER BY o.id DESC LIMIT ?6"
        )
    };
}
pub(super) const LIST: &str = list!("true");
pub(super) const LIST_BY_ID: &str = list!("o.id = ?1");
pub(super) const LIST_BY_CUSTOMER: &str = list!("o.customer = ?3");
pub(super) const LIST_BY_REFERENCE: &str =
    list!("o.id IN (SELECT p.order_id FROM payment p WHERE p.reference = ?4)");
pub(super) const CREATED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM orders o WHERE o.created_at >= ?1 AND o.created_at < ?2 AND o.id >= ?3 AND o.id <= ?4 AND o.id < ",
    before!("?5"),
    " ORDER BY o.id DESC LIMIT ?6"
);
pub(super) const DUE: &str = "\
    SELECT id FROM orders WHERE status = 'awaiting_payment' AND hold_expires_at <= ?1
    ORDER BY hold_expires_at LIMIT ?2";
pub(super) const UNHEARD: &str = concat!(
    "SELECT o.id, o.product FROM orders o \
     WHERE o.status = 'paid' AND coalesce(o.told_at, o.paid_at) < ?1 AND ",
    no_letter!("o.id"),
    " ORDER BY coalesce(o.told_at, o.paid_at), o.paid_at, o.id LIMIT ?2"
);
pub(super) const TOLD: &str =
    "UPDATE orders SET told_at = ?2 WHERE id IN (SELECT unhex(value) FROM json_each(?1))";
