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

/// Sorted, so that sets that claim the same keys wait in one order; once a key, for an upsert may meet a row only once.
pub(super) const REQUESTS_CLAIM: &str = "\
    INSERT INTO request (key, body, order_id, created_at)
    SELECT DISTINCT ON (key) key, body, order_id, $4
    FROM unnest($1::bytea[], $2::bytea[], $3::uuid[]) WITH ORDINALITY AS j(key, body, order_id, n)
    ORDER BY key, n
    ON CONFLICT (key) DO UPDATE SET body = excluded.body, order_id = excluded.order_id,
        created_at = excluded.created_at WHERE request.created_at < $5
    RETURNING key";
pub(super) const REQUESTS_READ: &str =
    "SELECT r.key, r.body, r.order_id FROM request r WHERE r.key = ANY($1)";
pub(super) const REQUESTS_RELEASE: &str = "DELETE FROM request WHERE key = ANY($1)";
/// Rows that a set has claimed anew are passed over. Picked first: a subquery may be run again and pick more.
pub(super) const REQUESTS_PURGE: &str = "\
    WITH old AS MATERIALIZED (SELECT key FROM request WHERE created_at < $1 ORDER BY created_at LIMIT $2
        FOR UPDATE SKIP LOCKED)
    DELETE FROM request WHERE key = ANY(ARRAY(SELECT key FROM old))";

pub(super) const INSERT: &str = "\
    INSERT INTO orders (id, version, status, product, customer, customer_given, email, currency,
        amount_minor, epoch, created_at, hold_expires_at, paid_at)
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::bigint[], $10::bigint[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[])";
pub(super) const INSERT_LINES: &str = "\
    INSERT INTO order_line (order_id, number, product, sku, name, note, quantity, unit_minor)
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::bigint[],
        $8::bigint[])";
/// Locked and read in one: only the locked rows are wanted, and each is read as it is once it is locked.
pub(super) const LOCK: &str =
    concat!("SELECT ", columns!(), " FROM orders o WHERE o.id = ANY($1) ORDER BY o.id FOR NO KEY UPDATE");
pub(super) const READ: &str = concat!("SELECT ", columns!(), " FROM orders o WHERE o.id = ANY($1)");
pub(super) const VERSIONS: &str = "SELECT o.id, o.version FROM orders o WHERE o.id = ANY($1)";
pub(super) const PRODUCTS: &str = "SELECT o.id, o.product FROM orders o WHERE o.id = ANY($1)";
pub(super) const LINES: &str = "\
    SELECT l.order_id, l.number, l.product, l.sku, l.name, l.note, l.quantity, l.unit_minor
    FROM order_line l WHERE l.order_id = ANY($1) ORDER BY l.order_id, l.number";
pub(super) const ADVANCE: &str = "\
    UPDATE orders SET version = orders.version + 1, status = next.status, hold_expires_at = next.hold_expires,
        paid_at = next.paid, issued_at = next.issued, closed_at = next.closed,
        refund_due_at = next.refund_due, refunded_at = next.refunded
    FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[],
        $7::timestamptz[], $8::timestamptz[], $9::timestamptz[])
        AS next(id, version, status, hold_expires, paid, issued, closed, refund_due, refunded)
    WHERE orders.id = next.id AND orders.version = next.version
    RETURNING orders.id";
/// Paid too long ago to be without codes, or with a letter that keeps it so.
macro_rules! stuck {
    () => {
        "o.id IN (SELECT s.id FROM orders s WHERE s.status = 'paid' AND s.paid_at < $9 \
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
            " AND ($1::uuid IS NULL OR o.id = $1) AND ($2::text IS NULL OR o.status = $2) \
              AND ($3::text IS NULL OR o.customer = $3) \
              AND ($4::text IS NULL OR o.id IN (SELECT p.order_id FROM payment p WHERE p.reference = $4)) \
              AND o.id < ",
            before!("$5"),
            " AND ($7::timestamptz IS NULL OR o.created_at >= $7) AND ($8::timestamptz IS NULL OR o.created_at < $8) \
               AND ($9::timestamptz IS NULL OR ",
            stuck!(),
            ") ORDER BY o.id DESC LIMIT $6"
        )
    };
}
pub(super) const LIST: &str = list!("true");
pub(super) const LIST_BY_ID: &str = list!("o.id = $1");
pub(super) const LIST_BY_CUSTOMER: &str = list!("o.customer = $3");
pub(super) const LIST_BY_REFERENCE: &str =
    list!("o.id = ANY(ARRAY(SELECT p.order_id FROM payment p WHERE p.reference = $4))");
pub(super) const CREATED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM orders o WHERE o.created_at >= $1 AND o.created_at < $2 AND o.id >= $3 AND o.id <= $4 AND o.id < ",
    before!("$5"),
    " ORDER BY o.id DESC LIMIT $6"
);
pub(super) const DUE: &str = "\
    SELECT id FROM orders WHERE status = 'awaiting_payment' AND hold_expires_at <= $1
    ORDER BY hold_expires_at LIMIT $2";
pub(super) const UNHEARD: &str = concat!(
    "SELECT o.id, o.product FROM orders o \
     WHERE o.status = 'paid' AND coalesce(o.told_at, o.paid_at) < $1 AND ",
    no_letter!("o.id"),
    " ORDER BY coalesce(o.told_at, o.paid_at), o.paid_at, o.id LIMIT $2"
);
/// Orders that somebody holds are passed over: they are being moved on, and are told again if they are not.
pub(super) const TOLD: &str = "\
    WITH told AS MATERIALIZED (SELECT id FROM orders WHERE id = ANY($1) FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE orders SET told_at = $2 FROM told WHERE orders.id = told.id";
