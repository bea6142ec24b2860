-- The store itself, products and customers.
--
-- Ids are UUIDv7 in 16 bytes. Times are microseconds since 1970-01-01T00:00:00Z. Money is minor units with an
-- ISO 4217 currency. Words are those of the README; each named constraint is one the code or an operator may meet.

-- One row: what this copy of the data is.
CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    generation BLOB NOT NULL CHECK (length(generation) = 16),  -- 16 random bytes, renewed by `tessera recover`
    sets INTEGER NOT NULL DEFAULT 0 CHECK (sets >= 0),  -- issuing sets committed, ever
    clock INTEGER NOT NULL DEFAULT 0,    -- the latest time any step was given; no step gets an earlier one
    partitions INTEGER NOT NULL DEFAULT 1 CHECK (partitions BETWEEN 1 AND 256)  -- issuer queues
) STRICT;
INSERT INTO store (id, generation) VALUES (1, randomblob(16));

-- Keys the store was used with, so that a process with another keyring stops before it does harm.
CREATE TABLE key_check (
    key_id TEXT PRIMARY KEY,
    key_use TEXT NOT NULL CHECK (key_use IN ('wrap', 'fingerprint', 'token')),
    value BLOB NOT NULL CHECK (length(value) = 16),   -- a MAC of a fixed text; says nothing of the key
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE product (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    sku TEXT NOT NULL CONSTRAINT product_sku UNIQUE,
    name TEXT NOT NULL,
    note TEXT NOT NULL,                  -- usage note; copied into each order's line
    kind TEXT NOT NULL CHECK (kind IN ('codes', 'coupon', 'raffle')),
    price_minor INTEGER NOT NULL CHECK (price_minor >= 0),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    hold_seconds INTEGER NOT NULL CHECK (hold_seconds > 0),
    max_per_order INTEGER CHECK (max_per_order > 0),
    per_customer_limit INTEGER CHECK (per_customer_limit > 0),
    new_customers_only INTEGER NOT NULL CHECK (new_customers_only IN (0, 1)),
    open_orders_per_customer INTEGER CHECK (open_orders_per_customer > 0),
    sale_starts_at INTEGER,
    sale_ends_at INTEGER CHECK (sale_ends_at > sale_starts_at),
    backorders INTEGER NOT NULL CHECK (backorders IN (0, 1)),
    pick TEXT NOT NULL CHECK (pick IN ('fifo', 'random')),  -- of batches opened from now on
    low_stock_at INTEGER CHECK (low_stock_at > 0),
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The hot counter, apart from the product so that its row stays small and is locked alone.
CREATE TABLE stock (
    product BLOB PRIMARY KEY REFERENCES product (id),
    claimed INTEGER NOT NULL DEFAULT 0
        CONSTRAINT stock_claimed CHECK (claimed >= 0)  -- quantity in orders that are pending
) STRICT, WITHOUT ROWID;

CREATE TABLE customer (
    folded TEXT PRIMARY KEY,             -- NFKC, case fold, trimmed: what customers are compared by
    given TEXT NOT NULL,                 -- as first written
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE customer_product (
    customer TEXT NOT NULL REFERENCES customer (folded),
    product BLOB NOT NULL REFERENCES product (id),
    units INTEGER NOT NULL
        CONSTRAINT customer_units CHECK (units >= 0),  -- in orders neither expired nor cancelled
    PRIMARY KEY (customer, product)
) STRICT, WITHOUT ROWID;
