-- Orders, their lines, their repeats and their waitlists.

CREATE TABLE orders (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    version INTEGER NOT NULL CHECK (version > 0),      -- raised by every visible change
    status TEXT NOT NULL CONSTRAINT order_status CHECK (status IN (
        'awaiting_payment', 'paid', 'backordered', 'issued', 'expired', 'cancelled', 'refund_due', 'refunded')),
    customer TEXT NOT NULL REFERENCES customer (folded),
    customer_given TEXT NOT NULL,        -- as written in this order
    email TEXT,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    amount_minor INTEGER NOT NULL CHECK (amount_minor >= 0),
    epoch INTEGER NOT NULL DEFAULT 0,    -- raised to revoke the buyer's token
    product BLOB NOT NULL REFERENCES product (id),     -- the lowest of its lines: chooses the issuer queue
    created_at INTEGER NOT NULL,
    hold_expires_at INTEGER,
    paid_at INTEGER,
    issued_at INTEGER,
    closed_at INTEGER,
    refund_due_at INTEGER,
    refunded_at INTEGER,
    told_at INTEGER,                     -- when the sweeper last published it again
    -- Each instant is there in the states in which it is true, and in no other.
    CONSTRAINT order_hold CHECK ((status = 'awaiting_payment') = (hold_expires_at IS NOT NULL)),
    CONSTRAINT order_paid CHECK (
        (status IN ('paid', 'backordered', 'issued', 'refund_due', 'refunded')) = (paid_at IS NOT NULL)),
    CONSTRAINT order_issued CHECK (CASE
        WHEN status = 'issued' THEN issued_at IS NOT NULL
        WHEN status IN ('refund_due', 'refunded') THEN 1
        ELSE issued_at IS NULL END),
    CONSTRAINT order_closed CHECK ((status IN ('expired', 'cancelled')) = (closed_at IS NOT NULL)),
    CONSTRAINT order_refund_due CHECK ((status IN ('refund_due', 'refunded')) = (refund_due_at IS NOT NULL)),
    CONSTRAINT order_refunded CHECK ((status = 'refunded') = (refunded_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
-- A customer's unpaid orders, and whether any was ever paid.
CREATE INDEX orders_customer ON orders (customer, status);
-- Holds that end.
CREATE INDEX orders_hold ON orders (hold_expires_at) WHERE status = 'awaiting_payment';
-- What the sweeper looks through: the order is its own outbox.
CREATE INDEX orders_unheard ON orders (coalesce(told_at, paid_at)) WHERE status = 'paid';

CREATE TABLE order_line (
    order_id BLOB NOT NULL REFERENCES orders (id),
    number INTEGER NOT NULL CHECK (number > 0),
    product BLOB NOT NULL REFERENCES product (id),
    sku TEXT NOT NULL,                   -- sku, name, note and price as they were when the order was placed
    name TEXT NOT NULL,
    note TEXT NOT NULL,
    quantity INTEGER NOT NULL CONSTRAINT line_quantity CHECK (quantity BETWEEN 1 AND 100000),
    unit_minor INTEGER NOT NULL CHECK (unit_minor >= 0),
    PRIMARY KEY (order_id, number),
    CONSTRAINT line_product UNIQUE (order_id, product)
) STRICT, WITHOUT ROWID;

-- Requests with an Idempotency-Key that made an order. Kept 48 h.
CREATE TABLE request (
    key BLOB PRIMARY KEY CHECK (length(key) = 32),    -- SHA-256 of the key, which is a secret
    body BLOB NOT NULL CHECK (length(body) = 32),     -- SHA-256 of what was asked
    order_id BLOB NOT NULL REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX request_age ON request (created_at);

-- Who waits for a product, strictly by (paid_at, order).
CREATE TABLE waitlist (
    product BLOB NOT NULL REFERENCES product (id),
    paid_at INTEGER NOT NULL,
    order_id BLOB NOT NULL REFERENCES orders (id),
    told_at INTEGER,                     -- when the sweeper last published its head
    PRIMARY KEY (product, paid_at, order_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX waitlist_order ON waitlist (order_id, product);  -- once a product
