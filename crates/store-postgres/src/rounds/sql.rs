//! The statements on raffles and rounds.

macro_rules! round {
    () => {
        "SELECT r.*, p.sku, (b.issued - coalesce((SELECT sum(n.upto - n.start) FROM span n \
            WHERE n.batch = r.batch AND n.kind IN ('void', 'burn')), 0))::bigint AS sold \
         FROM round r JOIN batch b ON b.id = r.batch JOIN product p ON p.id = r.product "
    };
}

/// The columns of a set of rounds to open.
macro_rules! opened {
    () => {
        "FROM unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bytea[], \
            $9::text[], $10::bytea[], $11::boolean[], $12::text[], $13::bytea[]) WITH ORDINALITY \
            AS j(id, product, number, shares, first_number, draw_after, commitment, entropy_rule, digest, is_full, \
            key_id, wrapped, n)"
    };
}

pub(super) const RAFFLES_PUT: &str = "\
    INSERT INTO raffle (product, key_id, wrapped)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::bytea[]) ON CONFLICT DO NOTHING";
/// The batches of rounds on sale, in the order in which batches are locked.
pub(super) const RAFFLES_LOCK: &str = "\
    SELECT 1 FROM batch WHERE product = ANY($1) AND state = 'open' AND kind = 'round' ORDER BY id FOR NO KEY UPDATE";
pub(super) const RAFFLES: &str = "\
    SELECT a.product AS raffle, a.key_id, a.wrapped,
        coalesce((SELECT max(number) FROM round WHERE product = a.product), 0) AS last, r.number, r.digest,
        b.id, b.product, b.size, b.issued, ARRAY(SELECT v.position FROM voided_position v
            WHERE v.batch = b.id AND v.position >= b.issued ORDER BY v.position) AS voided
    FROM raffle a LEFT JOIN round r ON r.product = a.product AND r.state = 'open'
    LEFT JOIN batch b ON b.id = r.batch
    WHERE a.product = ANY($1)";
pub(super) const OPEN_BATCH: &str = concat!(
    "INSERT INTO batch (id, product, kind, state, size, pick, first_number, key_id, wrapped, issued, created_at, \
        opened_at) \
     SELECT id, product, 'round', 'open', shares, 'random', first_number, key_id, wrapped, 0, $1, $1 ",
    opened!()
);
/// The time is bound to every statement of the three; here it is of no use.
pub(super) const OPEN_ANCHOR: &str = concat!(
    "INSERT INTO span (batch, start, upto, size, kind) SELECT id, NULL, 0, shares, 'anchor' ",
    opened!(),
    " WHERE $1::timestamptz IS NOT NULL"
);
pub(super) const OPEN: &str = concat!(
    "INSERT INTO round (batch, product, number, state, shares, first_number, draw_after, commitment, entropy_rule, \
        digest, opened_at, full_at, draw_at) \
     SELECT id, product, number, CASE WHEN is_full THEN 'full' ELSE 'open' END, shares, first_number, draw_after, \
        commitment, entropy_rule, digest, $1, CASE WHEN is_full THEN $1 END, \
        CASE WHEN is_full THEN $1 + draw_after * interval '1 second' END ",
    opened!(),
    " ORDER BY n"
);
pub(super) const TURN: &str = "\
    UPDATE round SET digest = turned.digest, state = CASE WHEN is_full THEN 'full' ELSE state END,
        full_at = CASE WHEN is_full THEN $1 ELSE full_at END,
        draw_at = CASE WHEN is_full THEN $1 + draw_after * interval '1 second' ELSE draw_at END
    FROM unnest($2::uuid[], $3::bytea[], $4::boolean[]) AS turned(id, digest, is_full)
    WHERE round.batch = turned.id";
pub(super) const CLAIMS: &str = "\
    UPDATE stock SET claims = told.claims, claimed = CASE WHEN told.claims THEN coalesce((
        SELECT sum(l.quantity) FROM orders o JOIN order_line l ON l.order_id = o.id
        WHERE l.product = stock.product AND o.status IN ('awaiting_payment', 'paid', 'backordered')), 0)::bigint
        ELSE 0 END
    FROM unnest($1::uuid[], $2::boolean[]) AS told(product, claims)
    WHERE stock.product = told.product AND stock.claims <> told.claims";
pub(super) const READ: &str = concat!(round!(), "WHERE r.batch = ANY($1) ORDER BY r.batch");
pub(super) const LOCK: &str = "SELECT 1 FROM round WHERE batch = ANY($1) ORDER BY batch FOR NO KEY UPDATE";
/// By number, not by id: rounds that open in one set have ids of one millisecond.
pub(super) const LIST: &str = concat!(
    round!(),
    "WHERE ($1::uuid IS NULL OR r.product = $1) AND ($2::uuid IS NULL OR (r.opened_at, r.number, r.batch) < \
        (SELECT o.opened_at, o.number, o.batch FROM round o WHERE o.batch = $2)) \
     ORDER BY r.opened_at DESC, r.number DESC, r.batch DESC LIMIT $3"
);
pub(super) const ON_SALE: &str = concat!(round!(), "WHERE r.product = ANY($1) AND r.state = 'open'");
/// A round that was burned to its end unsold needs no beacon: nobody can win it.
pub(super) const DUE: &str = "\
    SELECT r.batch FROM round r WHERE r.state = 'full' AND r.draw_at <= $1
        AND (r.entropy_rule = 'none' OR r.entropy IS NOT NULL
            OR NOT EXISTS (SELECT 1 FROM span s WHERE s.batch = r.batch AND s.kind = 'issue'))
        AND ($2::uuid IS NULL OR (r.draw_at, r.batch) >
            (SELECT o.draw_at, o.batch FROM round o WHERE o.batch = $2))
    ORDER BY r.draw_at, r.batch LIMIT $3";
pub(super) const SHARES: &str = "\
    SELECT order_id, line, start, upto FROM span WHERE batch = $1 AND kind = 'issue' ORDER BY upto";
pub(super) const ENTROPY: &str = "\
    UPDATE round SET entropy = $2 WHERE batch = $1 AND state = 'full' AND entropy IS NULL";
pub(super) const DRAWN: &str = "\
    UPDATE round SET state = 'drawn', drawn_at = told.at, winning_position = told.position,
        winning_number = told.number
    FROM unnest($1::uuid[], $2::timestamptz[], $3::bigint[], $4::bigint[]) AS told(id, at, position, number)
    WHERE round.batch = told.id AND round.state = 'full' RETURNING round.batch";
pub(super) const CANCEL: &str = "\
    UPDATE round SET state = 'cancelled', cancelled_at = $2 WHERE batch = $1 AND state IN ('open', 'full')";
pub(super) const UNDRAWN: &str = "\
    SELECT DISTINCT s.order_id FROM (SELECT * FROM span WHERE order_id = ANY($1) OFFSET 0) s
    JOIN round r ON r.batch = s.batch WHERE r.state IN ('open', 'full')";
pub(super) const KEY: &str = "SELECT key_id, wrapped FROM raffle WHERE product = $1";
