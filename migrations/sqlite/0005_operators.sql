-- Dead letters, attempts, the audit log, leases and operators' keys.

CREATE TABLE dead_letter (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    message_id TEXT,
    event TEXT,                          -- the message's type
    order_id BLOB,                       -- as the message says; it may be no order of ours
    reason TEXT NOT NULL,
    fingerprint TEXT NOT NULL,           -- groups letters that failed alike
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    state TEXT NOT NULL CHECK (state IN ('open', 'replaying', 'resolved', 'discarded')),
    body BLOB NOT NULL,
    first_failed_at INTEGER NOT NULL,
    last_failed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- One live letter an order: it keeps the sweeper off.
CREATE UNIQUE INDEX dead_letter_order ON dead_letter (order_id)
    WHERE order_id IS NOT NULL AND state IN ('open', 'replaying');
CREATE INDEX dead_letter_live ON dead_letter (id) WHERE state IN ('open', 'replaying');

-- Lone tries of an order whose message may have killed a process; gone with the try's outcome.
CREATE TABLE attempt (
    order_id BLOB PRIMARY KEY REFERENCES orders (id),
    count INTEGER NOT NULL CHECK (count > 0)
) STRICT, WITHOUT ROWID;

-- What operators did. Append-only.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,                -- such as `codes.import`
    subject TEXT NOT NULL,
    reason TEXT
) STRICT;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN SELECT raise(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN SELECT raise(ABORT, 'audit is append-only'); END;

-- Who may do a thing that only one may do at a time, and until when.
CREATE TABLE lease (
    name TEXT PRIMARY KEY,
    holder BLOB NOT NULL CHECK (length(holder) = 16),
    purpose TEXT NOT NULL,               -- shown to who waits
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    hash BLOB NOT NULL CONSTRAINT api_key_hash UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the key
    role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'owner', 'shop')),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
