//! The statements on batches, codes and spans.

pub(super) const OPEN_LOCK: &str = "SELECT 1 FROM batch WHERE product = ANY($1) AND state = 'open' AND kind <> 'round' ORDER BY id FOR NO KEY UPDATE";
pub(super) const OPEN_OF: &str = "\
    SELECT b.id, b.product, b.size, b.issued, ARRAY(SELECT v.position FROM voided_position v
        WHERE v.batch = b.id AND v.position >= b.issued ORDER BY v.position) AS voided
    FROM batch b WHERE b.product = ANY($1) AND b.state = 'open' AND b.kind <> 'round'
    ORDER BY b.product, b.expires_at NULLS LAST, b.opened_at, b.id";
pub(super) const ADVANCE: &str = "\
    UPDATE batch SET issued = moved.upto, state = CASE WHEN moved.upto = size THEN 'closed' ELSE state END,
        closed_at = CASE WHEN moved.upto = size THEN $3 ELSE closed_at END
    FROM unnest($1::uuid[], $2::bigint[]) AS moved(id, upto)
    WHERE batch.id = moved.id";
pub(super) const APPEND: &str = "\
    INSERT INTO span (batch, start, upto, size, kind, order_id, line, part)
    SELECT batch, start, upto, size, kind, order_id, line, part
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::uuid[], $7::bigint[],
        $8::bigint[]) WITH ORDINALITY AS j(batch, start, upto, size, kind, order_id, line, part, n) ORDER BY n";
/// OFFSET 0 fixes the order: from the orders to their spans, in every plan, never from a batch to its whole chain.
pub(super) const SPANS_OF: &str = "\
    SELECT s.order_id, s.line, s.part, s.start, s.upto, ARRAY(SELECT v.position FROM voided_position v
            WHERE v.batch = s.batch AND v.position >= s.start AND v.position < s.upto) AS voided,
        ARRAY(SELECT v.position FROM voided_position v
            WHERE v.batch = s.batch AND v.position >= s.start AND v.position < s.upto AND v.part IS NOT NULL) AS replaced, b.*
    FROM (SELECT * FROM span WHERE order_id = ANY($1) OFFSET 0) s JOIN batch_reading b ON b.id = s.batch
    ORDER BY s.order_id, s.line, s.part";
pub(super) const CODES: &str = "\
    SELECT c.batch, c.position, c.sealed
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS j(batch, start, upto)
    CROSS JOIN LATERAL (SELECT * FROM code
        WHERE batch = j.batch AND position >= j.start AND position < j.upto OFFSET 0) c";
pub(super) const BEGIN: &str = "\
    INSERT INTO batch (id, product, kind, state, pick, key_id, wrapped, created_at, supplier, cost_minor, expires_at)
    VALUES ($1, $2, 'import', 'loading', $3, $4, $5, $6, $7, $8, $9)";
/// Opening changes the batch's size, which is in a key: it waits for this lock, and this lock for it.
pub(super) const LOADING_KEPT: &str = "SELECT 1 FROM batch WHERE id = $1 AND state = 'loading' FOR KEY SHARE";
pub(super) const LOADING_LOCK: &str = "SELECT 1 FROM batch WHERE id = $1 AND state = 'loading' FOR UPDATE";
pub(super) const INSERT: &str = "\
    INSERT INTO code (batch, position, sealed, fingerprint)
    SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bytea[])";
pub(super) const KNOWN: &str = "\
    SELECT c.fingerprint, c.position, p.sku, b.*
    FROM (SELECT * FROM code WHERE fingerprint = ANY($1) OFFSET 0) c
    JOIN batch_reading b ON b.id = c.batch JOIN product p ON p.id = b.product";
pub(super) const COUNT: &str = "SELECT count(*) AS codes, max(position) AS last FROM code WHERE batch = $1";
pub(super) const OPEN: &str = "\
    UPDATE batch SET state = 'open', size = $2, issued = 0, opened_at = $3 WHERE id = $1 AND state = 'loading'";
pub(super) const ANCHOR: &str =
    "INSERT INTO span (batch, start, upto, size, kind) VALUES ($1, NULL, 0, $2, 'anchor')";
pub(super) const LOADING: &str = "SELECT id FROM batch WHERE state = 'loading' ORDER BY created_at";
pub(super) const DISCARD_CODES: &str = "\
    DELETE FROM code WHERE batch = $1
    AND position IN (SELECT position FROM code WHERE batch = $1 ORDER BY position LIMIT $2)";
pub(super) const DISCARD: &str =
    "DELETE FROM batch WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM code WHERE batch = $1)";
