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
            " ELSE 0 END) AS unissued, (coalesce(b.issued, 0) - ",
            skipped!(),
            " - ",
            taken!(),
            ") AS issued, (",
            skipped!(),
            " + ",
            ahead!(),
            " + ",
            taken!(),
            ") AS voided, b.supplier, b.cost_minor, b.expires_at, b.created_at, b.opened_at, b.closed_at \
             FROM batch b JOIN product p ON p.id = b.product "
        )
    };
}

pub(super) const LIST: &str = concat!(
    record!(),
    "WHERE (?1 IS NULL OR b.product = ?1) AND b.id < ",
    before!("?2"),
    " ORDER BY b.id DESC LIMIT ?3"
);
pub(super) const READ: &str =
    concat!(record!(), "WHERE b.id IN (SELECT unhex(value) FROM json_each(?1)) ORDER BY b.id");
pub(super) const READING: &str =
    "SELECT * FROM batch_reading WHERE id IN (SELECT unhex(value) FROM json_each(?1))";
pub(super) const ENDING: &str = "\
    SELECT id FROM batch WHERE state = 'open' AND kind <> 'round' AND expires_at <= ?1 ORDER BY expires_at, id LIMIT ?2";
pub(super) const SPANS_AT: &str = "\
    SELECT unhex(j.value->>0) AS batch, j.value->>1 AS place, n.kind, n.order_id, n.line, n.part
    FROM json_each(?1) j JOIN span n ON n.batch = unhex(j.value->>0) AND n.upto = (
        SELECT min(m.upto) FROM span m WHERE m.batch = unhex(j.value->>0) AND m.upto > j.value->>1)";
pub(super) const EXPLAIN: &str = "\
    INSERT INTO span_cause (batch, upto, at, actor, reason)
    SELECT unhex(value->>0), value->>1, ?2, value->>2, value->>3 FROM json_each(?1)";
pub(super) const VOID: &str = "\
    INSERT INTO voided_position (batch, position, reason, at, actor, part)
    SELECT unhex(value->>0), value->>1, value->>2, ?2, value->>3, value->>4 FROM json_each(?1) WHERE true
    ON CONFLICT (batch, position) DO UPDATE SET part = excluded.part
        WHERE voided_position.part IS NULL AND excluded.part IS NOT NULL
    RETURNING batch, position";
pub(super) const VOIDED: &str = "\
    SELECT v.batch, v.position, v.part FROM json_each(?1) j
    JOIN voided_position v ON v.batch = unhex(j.value->>0) AND v.position = j.value->>1";

/// Movements along the chains, looked up by one part of the filter and held to the others. Of what a void span
/// covers, places voided before it tell for themselves; one that covers nothing else and has no cause is no movement.
macro_rules! spans {
    ($by:literal) => {
        concat!(
            "SELECT s.batch, p.sku, s.kind, coalesce(s.start, 0) AS start, s.upto, s.order_id, s.line, s.part, \
               CASE WHEN s.kind = 'anchor' THEN b.size ELSE s.upto - s.start - iif(s.kind IN ('void', 'burn'), \
                 (SELECT count(*) FROM voided_position v WHERE v.batch = s.batch AND v.position >= s.start \
                    AND v.position < s.upto), 0) END AS quantity, \
               coalesce(c.at, CASE WHEN s.kind = 'anchor' THEN b.opened_at WHEN s.order_id IS NULL THEN b.closed_at \
                 ELSE o.issued_at END) AS at, c.actor, c.reason \
             FROM span s JOIN batch b ON b.id = s.batch JOIN product p ON p.id = b.product \
             LEFT JOIN span_cause c ON c.batch = s.batch AND c.upto = s.upto \
             LEFT JOIN orders o ON o.id = s.order_id WHERE ",
            $by,
            " AND (?1 IS NULL OR b.product = ?1) AND (?2 IS NULL OR s.batch = ?2) AND (?3 IS NULL OR s.order_id = ?3) \
               AND (s.batch, s.upto) < (",
            before!("?4"),
            ", ?5) AND (s.kind <> 'void' OR c.at IS NOT NULL OR s.upto - s.start > (\
                 SELECT count(*) FROM voided_position v WHERE v.batch = s.batch AND v.position >= s.start \
                   AND v.position < s.upto)) ORDER BY s.batch DESC, s.upto DESC LIMIT ?6"
        )
    };
}
pub(super) const SPANS: &str = spans!("true");
pub(super) const SPANS_BY_PRODUCT: &str = spans!("s.batch IN (SELECT id FROM batch WHERE product = ?1)");
pub(super) const SPANS_BY_BATCH: &str = spans!("s.batch = ?2");
pub(super) const SPANS_BY_ORDER: &str = spans!("s.order_id = ?3");

/// The same of voided places, each with whose it was.
macro_rules! voids {
    ($from:literal) => {
        concat!(
            "SELECT v.batch, p.sku, 'void' AS kind, v.position AS start, v.position + 1 AS upto, s.order_id, s.line, \
               s.part, 1 AS quantity, v.at, v.actor, v.reason FROM ",
            $from,
            " JOIN batch b ON b.id = v.batch JOIN product p ON p.id = b.product \
             WHERE (?1 IS NULL OR b.product = ?1) AND (?2 IS NULL OR v.batch = ?2) AND (?3 IS NULL OR s.order_id = ?3) \
               AND (v.batch, v.position) < (",
            before!("?4"),
            ", ?5 - 1) ORDER BY v.batch DESC, v.position DESC LIMIT ?6"
        )
    };
}
pub(super) const VOIDS: &str = voids!(
    "voided_position v LEFT JOIN span s ON s.batch = v.batch AND s.upto = (\
       SELECT min(n.upto) FROM span n WHERE n.batch = v.batch AND n.upto > v.position)"
);
pub(super) const VOIDS_BY_ORDER: &str = voids!(
    "span s JOIN voided_position v ON s.order_id = ?3 AND v.batch = s.batch AND v.position >= s.start \
       AND v.position < s.upto"
);
pub(super) const CLAIMANTS: &str = "\
    SELECT o.id, o.status, l.quantity FROM orders o JOIN order_line l ON l.order_id = o.id AND l.product = ?1
    WHERE o.status IN ('awaiting_payment', 'paid', 'backordered')
    ORDER BY o.status = 'awaiting_payment', coalesce(o.paid_at, o.created_at), o.id LIMIT ?2";
