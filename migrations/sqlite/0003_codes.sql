-- Batches, codes, and the chain of spans that says where each code went.

CREATE TABLE batch (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    product BLOB NOT NULL REFERENCES product (id),
    kind TEXT NOT NULL CHECK (kind IN ('import', 'pool', 'round')),
    state TEXT NOT NULL CHECK (state IN ('loading', 'open', 'closed')),
    -- Frozen when the batch opens:
    size INTEGER CHECK (size > 0),       -- positions 0 to size - 1
    pick TEXT NOT NULL CHECK (pick IN ('fifo', 'random')),
    format TEXT,                         -- of generated codes
    first_number INTEGER,                -- of a round
    key_id TEXT NOT NULL,                -- the key that wrapped the batch's own
    wrapped BLOB NOT NULL,               -- the batch's own random key, wrapped for (batch, id)
    supplier TEXT,
    cost_minor INTEGER CHECK (cost_minor >= 0),
    expires_at INTEGER,                  -- earliest is used first
    -- Moves with every set:
    issued INTEGER,                      -- the first position that no span covers
    created_at INTEGER NOT NULL,
    opened_at INTEGER,
    closed_at INTEGER,
    CONSTRAINT batch_size UNIQUE (id, size),
    CONSTRAINT batch_loading CHECK (
        (state = 'loading') = (size IS NULL) AND (size IS NULL) = (issued IS NULL)
        AND (size IS NULL) = (opened_at IS NULL)),
    CONSTRAINT batch_closed CHECK (CASE WHEN state = 'closed' THEN closed_at IS NOT NULL AND issued = size
        ELSE closed_at IS NULL END),
    -- `issued` stands where a span ends and, by batch_issued, where none begins: it moves along the chain only.
    -- A span written without moving it is refused by the next set (span_start), and reconcile names the batch.
    CONSTRAINT batch_chain FOREIGN KEY (id, issued) REFERENCES span (batch, upto) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
-- Batches that still have something to give; one whose last code is given closes.
CREATE INDEX batch_use ON batch (product, expires_at, opened_at, id) WHERE state = 'open';
CREATE INDEX batch_product ON batch (product);
CREATE INDEX batch_not_open ON batch (state) WHERE state = 'loading';

-- Positions [start, upto) of a batch, each span beginning where another ends. Overlap, a gap, more than the
-- batch holds, or a part of a line issued twice cannot be stored.
CREATE TABLE span (
    batch BLOB NOT NULL,
    upto INTEGER NOT NULL,
    start INTEGER,                       -- NULL in the anchor alone
    size INTEGER NOT NULL,               -- the batch's, so that `upto` is bounded by it
    kind TEXT NOT NULL CHECK (kind IN ('anchor', 'issue', 'replacement', 'void', 'burn')),
    order_id BLOB,
    line INTEGER,
    part INTEGER CHECK (part >= 0),      -- counts a line's spans from 0
    CONSTRAINT span_upto PRIMARY KEY (batch, upto),
    CONSTRAINT span_start UNIQUE (batch, start),
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
) STRICT, WITHOUT ROWID;

-- Codes of imported batches. Never updated.
CREATE TABLE code (
    batch BLOB NOT NULL REFERENCES batch (id),
    position INTEGER NOT NULL CHECK (position >= 0),
    sealed BLOB NOT NULL,                -- nonce and ciphertext, bound to (batch, position)
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 16),
    PRIMARY KEY (batch, position),
    CONSTRAINT code_fingerprint UNIQUE (fingerprint)  -- in the whole store: one card is sold once
) STRICT, WITHOUT ROWID;

-- Positions that are never sold (again), issued or not.
CREATE TABLE voided_position (
    batch BLOB NOT NULL REFERENCES batch (id),
    position INTEGER NOT NULL CHECK (position >= 0),
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (batch, position)
) STRICT, WITHOUT ROWID;

-- What was given is never taken back, and an open batch is frozen but for `issued`, `state` and what closes it.
CREATE TRIGGER span_no_update BEFORE UPDATE ON span
BEGIN SELECT raise(ABORT, 'span is append-only'); END;
CREATE TRIGGER span_no_delete BEFORE DELETE ON span
BEGIN SELECT raise(ABORT, 'span is append-only'); END;
CREATE TRIGGER code_no_update BEFORE UPDATE ON code
BEGIN SELECT raise(ABORT, 'code is append-only'); END;
CREATE TRIGGER code_no_delete BEFORE DELETE ON code
WHEN (SELECT state FROM batch WHERE id = OLD.batch) <> 'loading'
BEGIN SELECT raise(ABORT, 'code is append-only once its batch is open'); END;
CREATE TRIGGER batch_issued AFTER UPDATE OF issued ON batch
WHEN EXISTS (SELECT 1 FROM span WHERE batch = NEW.id AND start = NEW.issued)
BEGIN SELECT raise(ABORT, 'issued is not where the chain ends'); END;
CREATE TRIGGER batch_frozen BEFORE UPDATE OF product, kind, size, pick, format, first_number ON batch
WHEN OLD.state <> 'loading' AND (NEW.product, NEW.kind, NEW.size, NEW.pick, NEW.format, NEW.first_number)
    IS NOT (OLD.product, OLD.kind, OLD.size, OLD.pick, OLD.format, OLD.first_number)
BEGIN SELECT raise(ABORT, 'an open batch is frozen'); END;
