//! Each query returns `tbl`, `id` and `detail` of rows at fault, at most `?1` of them.

/// Spans of a batch add up to `issued`, and `issued` is within the size.
pub(super) const CHAIN: &str = "\
    SELECT 'batch' AS tbl, lower(hex(b.id)) AS id,
        printf('issued %d of %d, spans cover %d and end at %d', b.issued, b.size, b.covered, b.ends) AS detail
    FROM (SELECT id, issued, size,
        (SELECT coalesce(sum(upto - start), 0) FROM span WHERE batch = batch.id) AS covered,
        (SELECT max(upto) FROM span WHERE batch = batch.id) AS ends
        FROM batch WHERE state <> 'loading') b
    WHERE b.issued <> b.covered OR b.issued IS NOT b.ends OR b.issued > b.size LIMIT ?1";

/// An imported batch has one code at each position of its size.
pub(super) const POSITIONS: &str = "\
    SELECT 'batch' AS tbl, lower(hex(b.id)) AS id, printf('%d codes for %d positions', b.codes, b.size) AS detail
    FROM (SELECT id, size, (SELECT count(*) FROM code WHERE batch = batch.id AND position < batch.size) AS codes
        FROM batch WHERE state <> 'loading' AND kind = 'import') b
    WHERE b.codes <> b.size LIMIT ?1";

/// Every line of an issued order has exactly its quantity.
pub(super) const ISSUED_LINES: &str = "\
    SELECT 'order_line' AS tbl, lower(hex(l.order_id)) || '/' || l.number AS id,
        printf('quantity %d, issued %d', l.quantity, l.given) AS detail
    FROM (SELECT order_line.*, (SELECT coalesce(sum(upto - start), 0) FROM span
            WHERE order_id = order_line.order_id AND line = number AND kind = 'issue') AS given
        FROM order_line JOIN orders o ON o.id = order_id WHERE o.issued_at IS NOT NULL) l
    WHERE l.quantity <> l.given LIMIT ?1";

/// Each replacement gives one code for each voided one in whose place it stands, and each of those says which.
pub(super) const REPLACEMENTS: &str = "\
    SELECT 'span' AS tbl, lower(hex(r.batch)) || '/' || r.upto AS id, printf('gives %d in the place of %d', r.given, r.stood) AS detail
    FROM (SELECT s.batch, s.upto, s.upto - s.start AS given, (SELECT count(*) FROM span o JOIN voided_position v
            ON v.batch = o.batch AND v.position >= o.start AND v.position < o.upto AND v.part = s.part
            WHERE o.order_id = s.order_id AND o.line = s.line) AS stood
        FROM span s WHERE s.kind = 'replacement') r
    WHERE r.given <> r.stood
    UNION ALL
    SELECT 'voided_position', lower(hex(v.batch)) || '/' || v.position, 'nothing stands in its place'
    FROM voided_position v WHERE v.part IS NOT NULL AND NOT EXISTS (SELECT 1 FROM span o
        JOIN span r ON r.order_id = o.order_id AND r.line = o.line AND r.part = v.part AND r.kind = 'replacement'
        WHERE o.batch = v.batch
            AND o.upto = (SELECT min(n.upto) FROM span n WHERE n.batch = v.batch AND n.upto > v.position))
    LIMIT ?1";

/// No order that was never issued has a code.
pub(super) const UNISSUED_ORDERS: &str = "\
    SELECT 'orders' AS tbl, lower(hex(o.id)) AS id, o.status || ', and has codes' AS detail
    FROM span s JOIN orders o ON o.id = s.order_id WHERE o.issued_at IS NULL LIMIT ?1";

/// Exactly the backordered orders wait, each where it was paid.
pub(super) const WAITLISTS: &str = "\
    SELECT 'waitlist' AS tbl, lower(hex(w.order_id)) AS id, 'waits, and is ' || o.status AS detail
    FROM waitlist w JOIN orders o ON o.id = w.order_id
    WHERE o.status <> 'backordered' OR o.paid_at <> w.paid_at
    UNION ALL
    SELECT 'orders', lower(hex(o.id)), 'backordered, and waits for nothing' FROM orders o
    WHERE o.status = 'backordered' AND NOT EXISTS (SELECT 1 FROM waitlist w WHERE w.order_id = o.id)
    LIMIT ?1";

/// `claimed` is the quantity in pending orders; nothing of a raffle that another round follows.
pub(super) const CLAIMS: &str = "\
    SELECT 'stock' AS tbl, lower(hex(s.product)) AS id,
        printf('claimed %d, pending orders hold %d', s.claimed, coalesce(p.held, 0)) AS detail
    FROM stock s LEFT JOIN (SELECT l.product, sum(l.quantity) AS held FROM orders o
        JOIN order_line l ON l.order_id = o.id
        WHERE o.status IN ('awaiting_payment', 'paid', 'backordered') GROUP BY l.product) p
        ON p.product = s.product
    WHERE s.claimed <> iif(s.claims, coalesce(p.held, 0), 0) LIMIT ?1";

/// A customer's units are the quantity in orders neither expired nor cancelled.
pub(super) const CUSTOMERS: &str = "\
    WITH held AS (SELECT o.customer, l.product, sum(l.quantity) AS units FROM orders o
        JOIN order_line l ON l.order_id = o.id
        WHERE o.status NOT IN ('expired', 'cancelled') GROUP BY o.customer, l.product)
    SELECT 'customer_product' AS tbl, lower(hex(c.product)) AS id,
        printf('a customer''s units %d, orders hold %d', c.units, coalesce(h.units, 0)) AS detail
    FROM customer_product c LEFT JOIN held h ON h.customer = c.customer AND h.product = c.product
    WHERE c.units <> coalesce(h.units, 0)
    UNION ALL
    SELECT 'customer_product', lower(hex(h.product)), printf('orders hold %d, not counted', h.units)
    FROM held h LEFT JOIN customer_product c ON c.customer = h.customer AND c.product = h.product
    WHERE c.customer IS NULL LIMIT ?1";

/// A payment's entries sum to what arrived.
pub(super) const PAYMENTS: &str = "\
    SELECT 'payment' AS tbl, lower(hex(p.id)) AS id, printf('arrived %d, entries sum to %d', p.minor, p.total) AS detail
    FROM (SELECT id, minor, (SELECT coalesce(sum(amount), 0) FROM money_entry WHERE payment = payment.id) AS total
        FROM payment) p
    WHERE p.minor <> p.total LIMIT ?1";

/// No state of a payment is below zero.
pub(super) const PORTIONS: &str = "\
    SELECT 'money_entry' AS tbl, lower(hex(payment)) AS id, state || ' is ' || sum(amount) AS detail
    FROM money_entry GROUP BY payment, state HAVING sum(amount) < 0 LIMIT ?1";

/// Settled money is an order's price while it is paid for, and nothing before.
pub(super) const SETTLED: &str = "\
    WITH settled AS (SELECT order_id, sum(amount) AS minor FROM money_entry
        WHERE state = 'settled' AND order_id IS NOT NULL GROUP BY order_id)
    SELECT 'orders' AS tbl, lower(hex(o.id)) AS id,
        printf('%s, due %d, settled %d', o.status, o.amount_minor, coalesce(s.minor, 0)) AS detail
    FROM orders o LEFT JOIN settled s ON s.order_id = o.id
    WHERE CASE WHEN o.paid_at IS NULL THEN coalesce(s.minor, 0) <> 0
        ELSE coalesce(s.minor, 0) > o.amount_minor OR (coalesce(s.minor, 0) = 0 AND o.amount_minor > 0
            AND o.status IN ('paid', 'backordered', 'issued')
            AND NOT EXISTS (SELECT 1 FROM money_entry r WHERE r.order_id = o.id AND r.state IN ('refund_due', 'refunded'))) END
    LIMIT ?1";

/// What was refunded of a payment is what its refunds moved.
pub(super) const REFUNDS: &str = "\
    SELECT 'payment' AS tbl, lower(hex(p.id)) AS id, printf('refunded %d, refunds moved %d', p.refunded, p.moved) AS detail
    FROM (SELECT payment.id,
            (SELECT coalesce(sum(amount), 0) FROM money_entry m WHERE m.payment = payment.id AND state = 'refunded') AS refunded,
            (SELECT coalesce(sum(moved), 0) FROM refund r WHERE r.payment = payment.id) AS moved
        FROM payment) p
    WHERE p.refunded <> p.moved LIMIT ?1";

/// A pool takes as many indexes of its format as its batch has positions.
pub(super) const POOLS: &str = "\
    SELECT 'batch' AS tbl, lower(hex(b.id)) AS id, printf('%d positions, %d indexes of the format', b.size, coalesce(p.upto - p.start, 0)) AS detail
    FROM batch b LEFT JOIN pool p ON p.batch = b.id AND p.format = b.format
    WHERE b.kind = 'pool' AND b.state <> 'loading' AND b.size <> coalesce(p.upto - p.start, 0) LIMIT ?1";

/// A round is on sale as long as its batch is, and full when its last share is sold.
pub(super) const ROUNDS: &str = "\
    SELECT 'round' AS tbl, lower(hex(b.id)) AS id,
        coalesce(r.state, 'no round') || ', ' || printf('%d of %d shares covered', b.issued, b.size) AS detail
    FROM batch b LEFT JOIN round r ON r.batch = b.id
    WHERE b.kind = 'round' AND (r.batch IS NULL OR r.shares <> b.size
        OR (r.state <> 'open' AND b.issued <> b.size) OR (r.full_at IS NULL AND r.state IN ('full', 'drawn')))
    LIMIT ?1";

/// The rounds of a raffle are numbered without a gap.
pub(super) const NUMBERS: &str = "\
    SELECT 'round' AS tbl, lower(hex(product)) AS id, printf('%d rounds, numbered up to %d', count(*), max(number)) AS detail
    FROM round GROUP BY product HAVING count(*) <> max(number) OR min(number) <> 1 LIMIT ?1";

/// The share that won is an order's.
pub(super) const WINNERS: &str = "\
    SELECT 'round' AS tbl, lower(hex(r.batch)) AS id, printf('share %d won, and nobody has it', r.winning_position) AS detail
    FROM round r WHERE r.state = 'drawn' AND NOT EXISTS (SELECT 1 FROM span s WHERE s.batch = r.batch
        AND s.kind = 'issue' AND s.start <= r.winning_position AND s.upto > r.winning_position) LIMIT ?1";
