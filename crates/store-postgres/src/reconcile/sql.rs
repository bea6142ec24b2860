//! Each query returns `tbl`, `id` and `detail` of rows at fault, at most `$1` of them.

/// Spans of a batch add up to `issued`, and `issued` is within the size.
pub(super) const CHAIN: &str = "\
    SELECT 'batch' AS tbl, encode(uuid_send(b.id), 'hex') AS id,
        format('issued %s of %s, spans cover %s and end at %s', b.issued, b.size, b.covered, b.ends) AS detail
    FROM (SELECT id, issued, size,
        (SELECT coalesce(sum(upto - start), 0) FROM span WHERE batch = batch.id) AS covered,
        (SELECT max(upto) FROM span WHERE batch = batch.id) AS ends
        FROM batch WHERE state <> 'loading') b
    WHERE b.issued <> b.covered OR b.issued IS DISTINCT FROM b.ends OR b.issued > b.size LIMIT $1";

/// An imported batch has one code at each position of its size.
pub(super) const POSITIONS: &str = "\
    SELECT 'batch' AS tbl, encode(uuid_send(b.id), 'hex') AS id, format('%s codes for %s positions', b.codes, b.size) AS detail
    FROM (SELECT id, size, (SELECT count(*) FROM code WHERE batch = batch.id AND position < batch.size) AS codes
        FROM batch WHERE state <> 'loading' AND kind = 'import') b
    WHERE b.codes <> b.size LIMIT $1";

/// Every line of an issued order has exactly its quantity.
pub(super) const ISSUED_LINES: &str = "\
    SELECT 'order_line' AS tbl, encode(uuid_send(l.order_id), 'hex') || '/' || l.number AS id,
        format('quantity %s, issued %s', l.quantity, l.given) AS detail
    FROM (SELECT order_line.*, (SELECT coalesce(sum(upto - start), 0) FROM span
            WHERE order_id = order_line.order_id AND line = number AND kind = 'issue') AS given
        FROM order_line JOIN orders o ON o.id = order_id WHERE o.issued_at IS NOT NULL) l
    WHERE l.quantity <> l.given LIMIT $1";

/// Each replacement gives one code for each voided one in whose place it stands, and each of those says which.
pub(super) const REPLACEMENTS: &str = "\
    SELECT 'span' AS tbl, encode(uuid_send(r.batch), 'hex') || '/' || r.upto AS id, format('gives %s in the place of %s', r.given, r.stood) AS detail
    FROM (SELECT s.batch, s.upto, s.upto - s.start AS given, (SELECT count(*) FROM span o JOIN voided_position v
            ON v.batch = o.batch AND v.position >= o.start AND v.position < o.upto AND v.part = s.part
            WHERE o.order_id = s.order_id AND o.line = s.line) AS stood
        FROM span s WHERE s.kind = 'replacement') r
    WHERE r.given <> r.stood
    UNION ALL
    SELECT 'voided_position', encode(uuid_send(v.batch), 'hex') || '/' || v.position, 'nothing stands in its place'
    FROM voided_position v WHERE v.part IS NOT NULL AND NOT EXISTS (SELECT 1 FROM span o
        JOIN span r ON r.order_id = o.order_id AND r.line = o.line AND r.part = v.part AND r.kind = 'replacement'
        WHERE o.batch = v.batch
            AND o.upto = (SELECT min(n.upto) FROM span n WHERE n.batch = v.batch AND n.upto > v.position))
    LIMIT $1";

/// No order that was never issued has a code.
pub(super) const UNISSUED_ORDERS: &str = "\
    SELECT 'orders' AS tbl, encode(uuid_send(o.id), 'hex') AS id, o.status || ', and has codes' AS detail
    FROM span s JOIN orders o ON o.id = s.order_id WHERE o.issued_at IS NULL LIMIT $1";

/// Exactly the backordered orders wait, each where it was paid.
pub(super) const WAITLISTS: &str = "\
    SELECT 'waitlist' AS tbl, encode(uuid_send(w.order_id), 'hex') AS id, 'waits, and is ' || o.status AS detail
    FROM waitlist w JOIN orders o ON o.id = w.order_id
    WHERE o.status <> 'backordered' OR o.paid_at <> w.paid_at
    UNION ALL
    SELECT 'orders', encode(uuid_send(o.id), 'hex'), 'backordered, and waits for nothing' FROM orders o
    WHERE o.status = 'backordered' AND NOT EXISTS (SELECT 1 FROM waitlist w WHERE w.order_id = o.id)
    LIMIT $1";

/// `claimed` is the quantity in pending orders; nothing of a raffle that another round follows.
pub(super) const CLAIMS: &str = "\
    SELECT 'stock' AS tbl, encode(uuid_send(s.product), 'hex') AS id,
        format('claimed %s, pending orders hold %s', s.claimed, coalesce(p.held, 0)) AS detail
    FROM stock s LEFT JOIN (SELECT l.product, sum(l.quantity) AS held FROM orders o
        JOIN order_line l ON l.order_id = o.id
        WHERE o.status IN ('awaiting_payment', 'paid', 'backordered') GROUP BY l.product) p
        ON p.product = s.product
    WHERE s.claimed <> CASE WHEN s.claims THEN coalesce(p.held, 0) ELSE 0 END LIMIT $1";

/// A customer's units are the quantity in orders neither expired nor cancelled.
pub(super) const CUSTOMERS: &str = "\
    WITH held AS (SELECT o.customer, l.product, sum(l.quantity) AS units FROM orders o
        JOIN order_line l ON l.order_id = o.id
        WHERE o.status NOT IN ('expired', 'cancelled') GROUP BY o.customer, l.product)
    SELECT 'customer_product' AS tbl, encode(uuid_send(c.product), 'hex') AS id,
        format('a customer''s units %s, orders hold %s', c.units, coalesce(h.units, 0)) AS detail
    FROM customer_product c LEFT JOIN held h ON h.customer = c.customer AND h.product = c.product
    WHERE c.units <> coalesce(h.units, 0)
    UNION ALL
    SELECT 'customer_product', encode(uuid_send(h.product), 'hex'), format('orders hold %s, not counted', h.units)
    FROM held h LEFT JOIN customer_product c ON c.customer = h.customer AND c.product = h.product
    WHERE c.customer IS NULL LIMIT $1";

/// A payment's entries sum to what arrived.
pub(super) const PAYMENTS: &str = "\
    SELECT 'payment' AS tbl, encode(uuid_send(p.id), 'hex') AS id, format('arrived %s, entries sum to %s', p.minor, p.total) AS detail
    FROM (SELECT id, minor, (SELECT coalesce(sum(amount), 0) FROM money_entry WHERE payment = payment.id) AS total
        FROM payment) p
    WHERE p.minor <> p.total LIMIT $1";

/// No state of a payment is below zero.
pub(super) const PORTIONS: &str = "\
    SELECT 'money_entry' AS tbl, encode(uuid_send(payment), 'hex') AS id, state || ' is ' || sum(amount) AS detail
    FROM money_entry GROUP BY payment, state HAVING sum(amount) < 0 LIMIT $1";

/// Settled money is an order's price while it is paid for, and nothing before.
pub(super) const SETTLED: &str = "\
    WITH settled AS (SELECT order_id, sum(amount) AS minor FROM money_entry
        WHERE state = 'settled' AND order_id IS NOT NULL GROUP BY order_id)
    SELECT 'orders' AS tbl, encode(uuid_send(o.id), 'hex') AS id,
        format('%s, due %s, settled %s', o.status, o.amount_minor, coalesce(s.minor, 0)) AS detail
    FROM orders o LEFT JOIN settled s ON s.order_id = o.id
    WHERE CASE WHEN o.paid_at IS NULL THEN coalesce(s.minor, 0) <> 0
        ELSE coalesce(s.minor, 0) > o.amount_minor OR (coalesce(s.minor, 0) = 0 AND o.amount_minor > 0
            AND o.status IN ('paid', 'backordered', 'issued')
            AND NOT EXISTS (SELECT 1 FROM money_entry r WHERE r.order_id = o.id AND r.state IN ('refund_due', 'refunded'))) END
    LIMIT $1";

/// What was refunded of a payment is what its refunds moved.
pub(super) const REFUNDS: &str = "\
    SELECT 'payment' AS tbl, encode(uuid_send(p.id), 'hex') AS id,
        format('refunded %s, refunds moved %s', p.refunded, p.moved) AS detail
    FROM (SELECT payment.id,
            (SELECT coalesce(sum(amount), 0) FROM money_entry m WHERE m.payment = payment.id AND state = 'refunded') AS refunded,
            (SELECT coalesce(sum(moved), 0) FROM refund r WHERE r.payment = payment.id) AS moved
        FROM payment) p
    WHERE p.refunded <> p.moved LIMIT $1";

/// A pool takes as many indexes of its format as its batch has positions.
pub(super) const POOLS: &str = "\
    SELECT 'batch' AS tbl, b.id::text AS id, format('%s positions, %s indexes of the format', b.size, coalesce(p.upto - p.start, 0)) AS detail
    FROM batch b LEFT JOIN pool p ON p.batch = b.id AND p.format = b.format
    WHERE b.kind = 'pool' AND b.state <> 'loading' AND b.size <> coalesce(p.upto - p.start, 0) LIMIT $1";

/// A round is on sale as long as its batch is, and full when its last share is sold.
pub(super) const ROUNDS: &str = "\
    SELECT 'round' AS tbl, b.id::text AS id,
        coalesce(r.state, 'no round') || ', ' || format('%s of %s shares covered', b.issued, b.size) AS detail
    FROM batch b LEFT JOIN round r ON r.batch = b.id
    WHERE b.kind = 'round' AND (r.batch IS NULL OR r.shares <> b.size
        OR (r.state <> 'open' AND b.issued <> b.size) OR (r.full_at IS NULL AND r.state IN ('full', 'drawn')))
    LIMIT $1";

/// The rounds of a raffle are numbered without a gap.
pub(super) const NUMBERS: &str = "\
    SELECT 'round' AS tbl, product::text AS id, format('%s rounds, numbered up to %s', count(*), max(number)) AS detail
    FROM round GROUP BY product HAVING count(*) <> max(number) OR min(number) <> 1 LIMIT $1";

/// The share that won is an order's.
pub(super) const WINNERS: &str = "\
    SELECT 'round' AS tbl, r.batch::text AS id, format('share %s won, and nobody has it', r.winning_position) AS detail
    FROM round r WHERE r.state = 'drawn' AND NOT EXISTS (SELECT 1 FROM span s WHERE s.batch = r.batch
        AND s.kind = 'issue' AND s.start <= r.winning_position AND s.upto > r.winning_position) LIMIT $1";
