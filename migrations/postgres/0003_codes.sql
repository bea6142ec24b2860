-- Batches, codes, and the chain of spans that says where each code went.

CREATE TABLE batch (
    id uuid PRIMARY KEY,
    product uuid NOT NULL REFERENCES product (id),
    kind text NOT NULL CHECK (kind IN ('import', 'pool', 'round')),
    state text COLLATE "C" NOT NULL CHECK (state IN ('loading', 'open', 'closed')),
    -- Frozen when the batch opens:
    size bigint CHECK (size > 0),        -- positions 0 to size - 1
    pick text NOT NULL CHECK (pick IN ('fifo', 'random')),
    format text,                         -- of generated codes
    first_number bigint,                 -- of a round
    key_id text COLLATE "C" NOT NULL,    -- the key that wrapped the batch's own
    wrapped bytea NOT NULL,              -- the batch's own random key, wrapped for (batch, id)
    supplier text,
    cost_minor bigint CHECK (cost_minor >= 0),
    expires_at timestamptz,              -- earliest is used first
    -- Moves with every set:
    issued bigint,                       -- the first position that no span covers
    created_at timestamptz NOT NULL,
    opened_at timestamptz,
    closed_at timestamptz,
    CONSTRAINT batch_size UNIQUE (id, size),
    CONSTRAINT batch_loading CHECK (
        (state = 'loading') = (size IS NULL) AND (size IS NULL) = (issued IS NULL)
        AND (size IS NULL) = (opened_at IS NULL)),
    CONSTRAINT batch_closed CHECK (CASE WHEN state = 'closed' THEN closed_at IS NOT NULL AND issued = size
        ELSE closed_at IS NULL END)
    -- Differs from SQLite because a foreign key needs its table: batch_chain is added below, after span.
) WITH (
    -- Differs from SQLite because an update leaves the old row behind. Free room keeps the new row on the old one's
    -- page and has the page pruned early. Updates of `issued` are HOT, for no index
    -- names it; what they leave is vacuumed by count, and without pauses.
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0
);
-- Batches that still have something to give; one whose last code is given closes.
CREATE INDEX batch_use ON batch (product, expires_at, opened_at, id) WHERE state = 'open';
CREATE INDEX batch_product ON batch (product);
CREATE INDEX batch_not_open ON batch (state) WHERE state = 'loading';

-- Positions [start, upto) of a batch, each span beginning where another ends. Overlap, a gap, more than the
-- batch holds, or a part of a line issued twice cannot be stored.
CREATE TABLE span (
    batch uuid NOT NULL,
    upto bigint NOT NULL,
    start bigint,                        -- NULL in the anchor alone
    size bigint NOT NULL,                -- the batch's, so that `upto` is bounded by it
    kind text NOT NULL CHECK (kind IN ('anchor', 'issue', 'replacement', 'void', 'burn')),
    order_id uuid,
    line integer,
    part integer CHECK (part >= 0),      -- counts a line's spans from 0
    CONSTRAINT span_upto PRIMARY KEY (batch, upto),
    -- Differs from SQLite in the columns' order. Were `batch` first here too, a plan made while the table is small
    -- and analysed might look up (batch, upto) in this index, by `batch` alone, and keep doing so as it grows: the
    -- foreign key's own check would then read the whole chain for each span.
    CONSTRAINT span_start UNIQUE (start, batch),
    CONSTRAINT span_line UNIQUE (order_id, line, part),
    CONSTRAINT span_chain FOREIGN KEY (batch, start) REFERENCES span (batch, upto),
    CONSTRAINT span_size FOREIGN KEY (batch, size) REFERENCES batch (id, size),
    CONSTRAINT span_order FOREIGN KEY (order_id, line) REFERENCES order_line (order_id, number),
    -- CASE, not OR: with a NULL start a plain OR is NULL, and a CHECK takes NULL for true.
    CONSTRAINT span_bounds CHECK (
        CASE WHEN start IS NULL THEN upto = 0 ELSE start >= 0 AND upto > start AND upto <= size END),
    CONSTRAINT span_anchor CHECK ((kind = 'anchor') = (start IS NULL)),
    CONSTRAINT span_owner CHECK (CASE WHEN kind IN ('issue', 'replacement')
        THEN order_id IS NOT NULL AND line IS NOT NULL AND part IS NOT NULL
        ELSE order_id IS NULL AND line IS NULL AND part IS NULL END)
);
-- `issued` stands where a span ends and, by batch_issued, where none begins: it moves along the chain only.
-- A span written without moving it is refused by the next set (span_start), and reconcile names the batch.
ALTER TABLE batch ADD
    CONSTRAINT batch_chain FOREIGN KEY (id, issued) REFERENCES span (batch, upto) DEFERRABLE INITIALLY DEFERRED;

-- Codes of imported batches. Never updated.
CREATE TABLE code (
    batch uuid NOT NULL REFERENCES batch (id),
    position bigint NOT NULL CHECK (position >= 0),
    sealed bytea NOT NULL,               -- nonce and ciphertext, bound to (batch, position)
    fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 16),
    PRIMARY KEY (batch, position),
    CONSTRAINT code_fingerprint UNIQUE (fingerprint)  -- in the whole store: one card is sold once
);

-- Positions that are never sold (again), issued or not.
CREATE TABLE voided_position (
    batch uuid NOT NULL REFERENCES batch (id),
    position bigint NOT NULL CHECK (position >= 0),
    reason text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (batch, position)
);

-- What was given is never taken back, and an open batch is frozen but for `issued`, `state` and what closes it.
-- Differs from SQLite because a trigger runs a function. Its failure is
-- of class 23, as a broken CHECK: a data fault, told apart from a lost connection.
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER span_no_update BEFORE UPDATE ON span FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER span_no_delete BEFORE DELETE ON span FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER code_no_update BEFORE UPDATE ON code FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE FUNCTION code_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT state FROM batch WHERE id = OLD.batch) <> 'loading' THEN
        RAISE EXCEPTION 'code is append-only once its batch is open' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER code_no_delete BEFORE DELETE ON code FOR EACH ROW EXECUTE FUNCTION code_stays();
CREATE FUNCTION batch_issued() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Along a chain, a span that begins at `issued` ends above it. Asked so because span_upto serves it in any plan.
    IF EXISTS (SELECT 1 FROM span WHERE batch = NEW.id AND upto > NEW.issued) THEN
        RAISE EXCEPTION 'issued is not where the chain ends' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER batch_issued AFTER UPDATE OF issued ON batch FOR EACH ROW EXECUTE FUNCTION batch_issued();
CREATE TRIGGER batch_frozen BEFORE UPDATE OF product, kind, size, pick, format, first_number ON batch FOR EACH ROW
    WHEN (OLD.state <> 'loading' AND (NEW.product, NEW.kind, NEW.size, NEW.pick, NEW.format, NEW.first_number)
        IS DISTINCT FROM (OLD.product, OLD.kind, OLD.size, OLD.pick, OLD.format, OLD.first_number))
    EXECUTE FUNCTION append_only();
