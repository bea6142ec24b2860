//! The statements on the ledger.

use crate::encode::before;

/// Codes of a batch that void and burn spans cover.
macro_rules! skipped {
    () => {
        "coalesce((SELECT sum(n.upto - n.start) FROM span n WHERE n.batch = b.id AND n.kind IN ('void', 'burn')), 0)"
    };
}
pub(crate) use skipped;

/// Voided places of a batch that were never given out and that no span covers.
macro_rules! ahead {
    () => {
        "(SELECT count(*) FROM voided_position v WHERE v.batch = b.id AND v.position >= b.issued)"
    };
}
pub(crate) use ahead;

/// Voided places of a batch that orders have. Each is looked up in the chain by its place alone.
macro_rules! taken {
    () => {
        "(SELECT count(*) FROM voided_position v WHERE v.batch = b.id AND v.position < b.issued \
           AND (SELECT n.kind FROM span n WHERE n.batch = b.id AND n.upto > v.position ORDER BY n.upto LIMIT 1) \
             IN ('issue', 'replacement'))"
    };
}
pub(crate) use taken;

/// A batch as operators see it.
macro_rules! record {
    () => {
        concat!(
            "SELECT b.id, b.product, p.sku, b.kind, b.state, b.pick, coalesce(b.size, 0) AS size, (CASE WHEN b.state = 'open' \
               THEN b.size - b.issued - ",
            ahead!(),
            " ELSE 0 END)::bigint AS unissued, (coalesce(b.issued, 0) - ",
            skipped!(),
            " - ",
            taken!(),
            ")::bigint AS issued, (",
            skipped!(),
            " + ",
            ahead!(),
            " + ",
            taken!(),
            ")::bigint AS voided, b.supplier, b.cost_minor, b.expires_at, b.created_at, b.opened_at, b.closed_at \
             FROM batch b JOIN product p ON p.id = b.product "
        )
    };
}

pub(super) const LIST: &str = concat!(
    record!(),
    "WHERE ($1::uuid IS NULL OR b.product = $1) AND b.id < ",
    before!("$2"),
    " ORDER BY b.id DESC LIMIT $3"
);
pub(super) const READ: &str = concat!(record!(), "WHERE b.id = ANY($1) ORDER BY b.id");
pub(super) const READING: &str = "SELECT * FROM batch_reading WHERE id = ANY($1)";
pub(super) const ENDING: &str = "\
    SELECT id FROM batch WHERE state = 'open' AND kind <> 'round' AND expires_at <= $1 ORDER BY expires_at, id LIMIT $2";
pub(super) const SPANS_AT: &str = "\
    SELECT j.batch, j.place, n.kind, n.order_id, n.line, n.part
    FROM unnest($1::uuid[], $2::bigint[]) AS j(batch, place)
    CROSS JOIN LATERAL (SELECT * FROM span WHERE batch = j.batch AND upto > j.place ORDER BY upto LIMIT 1) n";
pub(super) const EXPLAIN: &str = "\
    INSERT INTO span_cause (batch, upto, at, actor, reason)
    SELECT batch, upto, $5, actor, reason
    FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[]) AS j(batch, upto, actor, reason)";
pub(super) const VOID: &str = "\
    INSERT INTO voided_position (batch, position, reason, at, actor, part)
    SELECT batch, position, reason, $6, actor, part
    FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[]) AS j(batch, position, reason, actor, part)
    ORDER BY batch, position
    ON CONFLICT (batch, position) DO UPDATE SET part = excluded.part
        WHERE voided_position.part IS NULL AND excluded.part IS NOT NULL
    RETURNING batch, position";
pub(super) const VOIDED: &str = "\
    SELECT v.batch, v.position, v.part FROM unnest($1::uuid[], $2::bigint[]) AS j(batch, place)
    CROSS JOIN LATERAL (SELECT * FROM voided_position WHERE batch = j.batch AND position = j.place OFFSET 0) v";

/// Movements along the chains, looked up by one part of the filter and held to the others. Of what a void span
/// covers, places voided before it tell for themselves; one that covers nothing else and has no cause is no movement.
macro_rules! spans {
    ($by:literal) => {
        concat!(
            "SELECT s.batch, p.sku, s.kind, coalesce(s.start, 0) AS start, s.upto, s.order_id, s.line, s.part, \
               (CASE WHEN s.kind = 'anchor' THEN b.size ELSE s.upto - s.start - CASE WHEN s.kind IN ('void', 'burn') THEN \
                 (SELECT count(*) FROM voided_position v WHERE v.batch = s.batch AND v.position >= s.start \
                    AND v.position < s.upto) ELSE 0 END END)::bigint AS quantity, \
               coalesce(c.at, CASE WHEN s.kind = 'anchor' THEN b.opened_at WHEN s.order_id IS NULL THEN b.closed_at \
                 ELSE o.issued_at END) AS at, c.actor, c.reason \
             FROM span s JOIN batch b ON b.id = s.batch JOIN product p ON p.id = b.product \
             LEFT JOIN span_cause c ON c.batch = s.batch AND c.upto = s.upto \
             LEFT JOIN orders o ON o.id = s.order_id WHERE ",
            $by,
            " AND ($1::uuid IS NULL OR b.product = $1) AND ($2::uuid IS NULL OR s.batch = $2) \
               AND ($3::uuid IS NULL OR s.order_id = $3) AND (s.batch, s.upto) < (",
            before!("$4"),
            ", $5::bigint) AND (s.kind <> 'void' OR c.at IS NOT NULL OR s.upto - s.start > (\
                 SELECT count(*) FROM voided_position v WHERE v.batch = s.batch AND v.position >= s.start \
                   AND v.position < s.upto)) ORDER BY s.batch DESC, s.upto DESC LIMIT $6"
        )
    };
}
pub(super) const SPANS: &str = spans!("true");
pub(super) const SPANS_BY_PRODUCT: &str = spans!("s.batch IN (SELECT id FROM batch WHERE product = $1)");
pub(super) const SPANS_BY_BATCH: &str = spans!("s.batch = $2");
pub(super) const SPANS_BY_ORDER: &str = spans!("s.order_id = $3");

/// The same of voided places, each with whose it was.
macro_rules! voids {
    ($from:literal) => {
        concat!(
            "SELECT v.batch, p.sku, 'void' AS kind, v.position AS start, v.position + 1 AS upto, s.order_id, s.line, \
               s.part, 1::bigint AS quantity, v.at, v.actor, v.reason FROM ",
            $from,
            " JOIN batch b ON b.id = v.batch JOIN product p ON p.id = b.product \
             WHERE ($1::uuid IS NULL OR b.product = $1) AND ($2::uuid IS NULL OR v.batch = $2) \
               AND ($3::uuid IS NULL OR s.order_id = $3) AND (v.batch, v.position) < (",
            before!("$4"),
            ", $5::bigint - 1) ORDER BY v.batch DESC, v.position DESC LIMIT $6"
        )
    };
}
pub(super) const VOIDS: &str = voids!(
    "voided_position v LEFT JOIN LATERAL (SELECT * FROM span n WHERE n.batch = v.batch AND n.upto > v.position \
       ORDER BY n.upto LIMIT 1) s ON true"
);
pub(super) const VOIDS_BY_ORDER: &str = voids!(
    "(SELECT * FROM span WHERE order_id = $3 OFFSET 0) s JOIN voided_position v ON v.batch = s.batch \
       AND v.position >= s.start AND v.position < s.upto"
);
/// Each state in a branch of its own, so that an index of that state serves it.
pub(super) const CLAIMANTS: &str = "\
    SELECT o.id, o.status, o.quantity FROM (
        SELECT o.id, o.status, o.created_at AS since, l.quantity FROM orders o
            JOIN order_line l ON l.order_id = o.id AND l.product = $1
            WHERE o.status = 'awaiting_payment' AND o.hold_expires_at IS NOT NULL
        UNION ALL SELECT o.id, o.status, o.paid_at, l.quantity FROM orders o
            JOIN order_line l ON l.order_id = o.id AND l.product = $1 WHERE o.status = 'paid'
        UNION ALL SELECT o.id, o.status, o.paid_at, l.quantity FROM (SELECT DISTINCT order_id FROM waitlist) w
            JOIN orders o ON o.id = w.order_id AND o.status = 'backordered'
            JOIN order_line l ON l.order_id = o.id AND l.product = $1) o
    ORDER BY o.status = 'awaiting_payment', o.since, o.id LIMIT $2";
