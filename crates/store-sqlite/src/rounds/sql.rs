//! The statements on raffles and rounds.

macro_rules! round {
    () => {
        "SELECT r.*, p.sku, b.issued - coalesce((SELECT sum(n.upto - n.start) FROM span n \
            WHERE n.batch = r.batch AND n.kind IN ('void', 'burn')), 0) AS sold \
         FROM round r JOIN batch b ON b.id = r.batch JOIN product p ON p.id = r.product "
    };
}

pub(super) const RAFFLES_PUT: &str = "\
    INSERT INTO raffle (product, key_id, wrapped)
    SELECT unhex(value->>0), value->>1, unhex(value->>2) FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING";
pub(super) const RAFFLES: &str = "\
    SELECT a.product AS raffle, a.key_id, a.wrapped,
        coalesce((SELECT max(number) FROM round WHERE product = a.product), 0) AS last, r.number, r.digest,
        b.id, b.product, b.size, b.issued, (SELECT json_group_array(v.position) FROM (
            SELECT position FROM voided_position WHERE batch = b.id AND position >= b.issued ORDER BY position) v
        ) AS voided
    FROM json_each(?1) j JOIN raffle a ON a.product = unhex(j.value)
    LEFT JOIN round r ON r.product = a.product AND r.state = 'open' LEFT JOIN batch b ON b.id = r.batch";
pub(super) const OPEN_BATCH: &str = "\
    INSERT INTO batch (id, product, kind, state, size, pick, first_number, key_id, wrapped, issued, created_at,
        opened_at)
    SELECT unhex(value->>'id'), unhex(value->>'product'), 'round', 'open', value->>'shares', 'random',
        value->>'first_number', value->>'key_id', unhex(value->>'wrapped'), 0, ?2, ?2
    FROM json_each(?1)";
pub(super) const OPEN_ANCHOR: &str = "\
    INSERT INTO span (batch, start, upto, size, kind)
    SELECT unhex(value->>'id'), NULL, 0, value->>'shares', 'anchor' FROM json_each(?1)";
pub(super) const OPEN: &str = "\
    INSERT INTO round (batch, product, number, state, shares, first_number, draw_after, commitment, entropy_rule,
        digest, opened_at, full_at, draw_at)
    SELECT unhex(value->>'id'), unhex(value->>'product'), value->>'number',
        iif(value->>'full', 'full', 'open'), value->>'shares', value->>'first_number', value->>'draw_after',
        unhex(value->>'commitment'), value->>'entropy_rule', unhex(value->>'digest'), ?2,
        iif(value->>'full', ?2, NULL), iif(value->>'full', ?2 + (value->>'draw_after') * 1000000, NULL)
    FROM json_each(?1) ORDER BY key";
pub(super) const TURN: &str = "\
    UPDATE round SET digest = turned.digest, state = iif(turned.is_full, 'full', state),
        full_at = iif(turned.is_full, ?2, full_at),
        draw_at = iif(turned.is_full, ?2 + draw_after * 1000000, draw_at)
    FROM (SELECT unhex(value->>0) AS id, unhex(value->>1) AS digest, value->>2 AS is_full FROM json_each(?1))
        AS turned
    WHERE round.batch = turned.id";
pub(super) const CLAIMS: &str = "\
    UPDATE stock SET claims = told.claims, claimed = iif(told.claims, coalesce((
        SELECT sum(l.quantity) FROM orders o JOIN order_line l ON l.order_id = o.id
        WHERE l.product = stock.product AND o.status IN ('awaiting_payment', 'paid', 'backordered')), 0), 0)
    FROM (SELECT unhex(value->>0) AS product, value->>1 AS claims FROM json_each(?1)) AS told
    WHERE stock.product = told.product AND stock.claims <> told.claims";
pub(super) const READ: &str =
    concat!(round!(), "WHERE r.batch IN (SELECT unhex(value) FROM json_each(?1)) ORDER BY r.batch");
/// By number, not by id: rounds that open in one set have ids of one millisecond.
pub(super) const LIST: &str = concat!(
    round!(),
    "WHERE (?1 IS NULL OR r.product = ?1) AND (?2 IS NULL OR (r.opened_at, r.number, r.batch) < \
        (SELECT o.opened_at, o.number, o.batch FROM round o WHERE o.batch = ?2)) \
     ORDER BY r.opened_at DESC, r.number DESC, r.batch DESC LIMIT ?3"
);
pub(super) const ON_SALE: &str =
    concat!(round!(), "WHERE r.product IN (SELECT unhex(value) FROM json_each(?1)) AND r.state = 'open'");
/// A round that was burned to its end unsold needs no beacon: nobody can win it.
pub(super) const DUE: &str = "\
    SELECT r.batch FROM round r WHERE r.state = 'full' AND r.draw_at <= ?1
        AND (r.entropy_rule = 'none' OR r.entropy IS NOT NULL
            OR NOT EXISTS (SELECT 1 FROM span s WHERE s.batch = r.batch AND s.kind = 'issue'))
        AND (?2 IS NULL OR (r.draw_at, r.batch) >
            (SELECT o.draw_at, o.batch FROM round o WHERE o.batch = ?2))
    ORDER BY r.draw_at, r.batch LIMIT ?3";
pub(super) const SHARES: &str = "\
    SELECT order_id, line, start, upto FROM span WHERE batch = ?1 AND kind = 'issue' ORDER BY upto";
pub(super) const ENTROPY: &str = "\
    UPDATE round SET entropy = ?2 WHERE batch = ?1 AND state = 'full' AND entropy IS NULL";
pub(super) const DRAWN: &str = "\
    UPDATE round SET state = 'drawn', drawn_at = told.at, winning_position = told.position,
        winning_number = told.number
    FROM (SELECT unhex(value->>0) AS id, value->>1 AS at, value->>2 AS position, value->>3 AS number
        FROM json_each(?1)) AS told
    WHERE round.batch = told.id AND round.state = 'full' RETURNING batch";
pub(super) const CANCEL: &str = "\
    UPDATE round SET state = 'cancelled', cancelled_at = ?2 WHERE batch = ?1 AND state IN ('open', 'full')";
pub(super) const UNDRAWN: &str = "\
    SELECT DISTINCT s.order_id FROM json_each(?1) j JOIN span s ON s.order_id = unhex(j.value)
    JOIN round r ON r.batch = s.batch WHERE r.state IN ('open', 'full')";
pub(super) const KEY: &str = "SELECT key_id, wrapped FROM raffle WHERE product = ?1";
