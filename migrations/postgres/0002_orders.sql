-- Orders, their lines, their repeats and their waitlists.

CREATE TABLE orders (
    id uuid PRIMARY KEY,
    version bigint NOT NULL CHECK (version > 0),       -- raised by every visible change
    status text COLLATE "C" NOT NULL CONSTRAINT order_status CHECK (status IN (
        'awaiting_payment', 'paid', 'backordered', 'issued', 'expired', 'cancelled', 'refund_due', 'refunded')),
    customer text COLLATE "C" NOT NULL REFERENCES customer (folded),
    customer_given text NOT NULL,        -- as written in this order
    email text,
    currency text NOT NULL CHECK (length(currency) = 3),
    amount_minor bigint NOT NULL CHECK (amount_minor >= 0),
    epoch integer NOT NULL DEFAULT 0,    -- raised to revoke the buyer's token
    product uuid NOT NULL REFERENCES product (id),     -- the lowest of its lines: chooses the issuer queue
    created_at timestamptz NOT NULL,
    hold_expires_at timestamptz,
    paid_at timestamptz,
    issued_at timestamptz,
    closed_at timestamptz,
    refund_due_at timestamptz,
    refunded_at timestamptz,
    told_at timestamptz,                 -- when the sweeper last published it again
    -- Each instant is there in the states in which it is true, and in no other.
    CONSTRAINT order_hold CHECK ((status = 'awaiting_payment') = (hold_expires_at IS NOT NULL)),
    CONSTRAINT order_paid CHECK (
        (status IN ('paid', 'backordered', 'issued', 'refund_due', 'refunded')) = (paid_at IS NOT NULL)),
    -- Differs from SQLite because truth is a type of its own: `true`, not 1.
    CONSTRAINT order_issued CHECK (CASE
        WHEN status = 'issued' THEN issued_at IS NOT NULL
        WHEN status IN ('refund_due', 'refunded') THEN true
        ELSE issued_at IS NULL END),
    CONSTRAINT order_closed CHECK ((status IN ('expired', 'cancelled')) = (closed_at IS NOT NULL)),
    CONSTRAINT order_refund_due CHECK ((status IN ('refund_due', 'refunded')) = (refund_due_at IS NOT NULL)),
    CONSTRAINT order_refunded CHECK ((status = 'refunded') = (refunded_at IS NOT NULL))
) WITH (
    -- Differs from SQLite because an update leaves the old row behind. An order is written about three times, and
    -- its status is in indexes, so hardly an update is HOT. By default a fifth of the table must be dead before it
    -- is vacuumed; of a large one that is too much for the indexes which the sweeper and expiry read.
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
    autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0
);
-- A customer's unpaid orders, and whether any was ever paid.
CREATE INDEX orders_customer ON orders (customer, status);
-- Holds that end.
CREATE INDEX orders_hold ON orders (hold_expires_at) WHERE status = 'awaiting_payment';
-- What the sweeper looks through: the order is its own outbox.
CREATE INDEX orders_unheard ON orders (coalesce(told_at, paid_at)) WHERE status = 'paid';

CREATE TABLE order_line (
    order_id uuid NOT NULL REFERENCES orders (id),
    number integer NOT NULL CHECK (number > 0),
    product uuid NOT NULL REFERENCES product (id),
    sku text COLLATE "C" NOT NULL,       -- sku, name, note and price as they were when the order was placed
    name text NOT NULL,
    note text NOT NULL,
    quantity bigint NOT NULL CONSTRAINT line_quantity CHECK (quantity BETWEEN 1 AND 100000),
    unit_minor bigint NOT NULL CHECK (unit_minor >= 0),
    PRIMARY KEY (order_id, number),
    CONSTRAINT line_product UNIQUE (order_id, product)
);

-- Requests with an Idempotency-Key that made an order. Kept 48 h.
CREATE TABLE request (
    key bytea PRIMARY KEY CHECK (octet_length(key) = 32),   -- SHA-256 of the key, which is a secret
    body bytea NOT NULL CHECK (octet_length(body) = 32),    -- SHA-256 of what was asked
    order_id uuid NOT NULL REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED,
    created_at timestamptz NOT NULL
);
CREATE INDEX request_age ON request (created_at);

-- Who waits for a product, strictly by (paid_at, order).
CREATE TABLE waitlist (
    product uuid NOT NULL REFERENCES product (id),
    paid_at timestamptz NOT NULL,
    order_id uuid NOT NULL REFERENCES orders (id),
    told_at timestamptz,                 -- when the sweeper last published its head
    PRIMARY KEY (product, paid_at, order_id)
) WITH (
    -- Differs from SQLite because a deleted row stays until it is vacuumed. A queue is read at its head, where the
    -- dead rows gather; it is vacuumed by count, however long it is, and without pauses.
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);
CREATE UNIQUE INDEX waitlist_order ON waitlist (order_id, product);  -- once a product
