-- The store itself, products and customers.
--
-- Ids are UUIDv7. Times are timestamptz, in microseconds. Money is minor units with an ISO 4217 currency. Words are
-- those of the README; each named constraint is one the code or an operator may meet.
--
-- Differs from SQLite because PostgreSQL has types for ids, times and truth values, which need no CHECK; because
-- counters the program holds in 32 bits are integer here; and because its text has collations. Each text column
-- that is in an index, or that is compared with one, is COLLATE "C": it orders by bytes, as SQLite and Rust do;
-- an upgrade of the C library cannot corrupt its index; and two columns with different collations do not compare.

-- One row: what this copy of the data is.
CREATE TABLE store (
    id integer PRIMARY KEY CHECK (id = 1),
    generation bytea NOT NULL            -- 16 random bytes, renewed by `tessera recover`
        CHECK (octet_length(generation) = 16),
    sets bigint NOT NULL DEFAULT 0 CHECK (sets >= 0),  -- issuing sets committed, ever
    clock timestamptz NOT NULL DEFAULT 'epoch',  -- the latest time any step was given; no step gets an earlier one
    partitions integer NOT NULL DEFAULT 1 CHECK (partitions BETWEEN 1 AND 256),  -- issuer queues
    -- Differs from SQLite because a server can be copied or promoted under the program; filled by the program.
    system_id bigint,                    -- system_identifier of pg_control_system()
    timeline bigint,                     -- rises when a standby is promoted
    CONSTRAINT store_server CHECK ((system_id IS NULL) = (timeline IS NULL))
) WITH (
    -- Differs from SQLite because an update leaves the old row behind. The row is updated in each set and in no
    -- indexed column (HOT); a low fillfactor has its page pruned early, which keeps the chain of old rows short.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0
);
-- Differs from SQLite because the core has no random bytes but those of a UUID: 122 of the 128 bits are random.
INSERT INTO store (id, generation) VALUES (1, uuid_send(gen_random_uuid()));

-- Keys the store was used with, so that a process with another keyring stops before it does harm.
CREATE TABLE key_check (
    key_id text COLLATE "C" PRIMARY KEY,
    key_use text NOT NULL CHECK (key_use IN ('wrap', 'fingerprint', 'token')),
    value bytea NOT NULL CHECK (octet_length(value) = 16),  -- a MAC of a fixed text; says nothing of the key
    seen_at timestamptz NOT NULL
);

CREATE TABLE product (
    id uuid PRIMARY KEY,
    sku text COLLATE "C" NOT NULL CONSTRAINT product_sku UNIQUE,
    name text NOT NULL,
    note text NOT NULL,                  -- usage note; copied into each order's line
    kind text NOT NULL CHECK (kind IN ('codes', 'coupon', 'raffle')),
    price_minor bigint NOT NULL CHECK (price_minor >= 0),
    currency text NOT NULL CHECK (length(currency) = 3),
    hold_seconds bigint NOT NULL CHECK (hold_seconds > 0),
    max_per_order bigint CHECK (max_per_order > 0),
    per_customer_limit bigint CHECK (per_customer_limit > 0),
    new_customers_only boolean NOT NULL,
    open_orders_per_customer bigint CHECK (open_orders_per_customer > 0),
    sale_starts_at timestamptz,
    sale_ends_at timestamptz CHECK (sale_ends_at > sale_starts_at),
    backorders boolean NOT NULL,
    pick text NOT NULL CHECK (pick IN ('fifo', 'random')),  -- of batches opened from now on
    low_stock_at bigint CHECK (low_stock_at > 0),
    active boolean NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- The hot counter, apart from the product so that its row stays small and is locked alone.
CREATE TABLE stock (
    product uuid PRIMARY KEY REFERENCES product (id),
    claimed bigint NOT NULL DEFAULT 0
        CONSTRAINT stock_claimed CHECK (claimed >= 0)  -- quantity in orders that are pending
) WITH (
    -- Differs from SQLite because an update leaves the old row behind. Half of each page is kept free, so that the
    -- new row fits beside the old one and no index is written (HOT); what pruning leaves is vacuumed by count, not
    -- by a share of a table this small, and without pauses.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE customer (
    folded text COLLATE "C" PRIMARY KEY, -- NFKC, case fold, trimmed: what customers are compared by
    given text NOT NULL,                 -- as first written
    created_at timestamptz NOT NULL
);

CREATE TABLE customer_product (
    customer text COLLATE "C" NOT NULL REFERENCES customer (folded),
    product uuid NOT NULL REFERENCES product (id),
    units bigint NOT NULL
        CONSTRAINT customer_units CHECK (units >= 0),  -- in orders neither expired nor cancelled
    PRIMARY KEY (customer, product)
);
