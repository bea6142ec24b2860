-- Dead letters, attempts, the audit log, leases and operators' keys.

CREATE TABLE dead_letter (
    id uuid PRIMARY KEY,
    message_id text,
    event text,                          -- the message's type
    order_id uuid,                       -- as the message says; it may be no order of ours
    reason text NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,  -- groups letters that failed alike
    attempts bigint NOT NULL CHECK (attempts >= 0),
    state text NOT NULL CHECK (state IN ('open', 'replaying', 'resolved', 'discarded')),
    body bytea NOT NULL,
    first_failed_at timestamptz NOT NULL,
    last_failed_at timestamptz NOT NULL
);
-- One live letter an order: it keeps the sweeper off.
CREATE UNIQUE INDEX dead_letter_order ON dead_letter (order_id)
    WHERE order_id IS NOT NULL AND state IN ('open', 'replaying');
CREATE INDEX dead_letter_live ON dead_letter (id) WHERE state IN ('open', 'replaying');

-- Lone tries of an order whose message may have killed a process; gone with the try's outcome.
CREATE TABLE attempt (
    order_id uuid PRIMARY KEY REFERENCES orders (id),
    count bigint NOT NULL CHECK (count > 0)
);

-- What operators did. Append-only.
CREATE TABLE audit (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,                -- such as `codes.import`
    subject text NOT NULL,
    reason text
);
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION append_only();
-- Differs from SQLite because TRUNCATE passes the triggers of rows.
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit EXECUTE FUNCTION append_only();

-- Who may do a thing that only one may do at a time, and until when.
CREATE TABLE lease (
    name text COLLATE "C" PRIMARY KEY,
    holder bytea NOT NULL CHECK (octet_length(holder) = 16),
    purpose text NOT NULL,               -- shown to who waits
    expires_at timestamptz NOT NULL
);

CREATE TABLE api_key (
    id uuid PRIMARY KEY,
    hash bytea NOT NULL CONSTRAINT api_key_hash UNIQUE CHECK (octet_length(hash) = 32),  -- SHA-256 of the key
    role text NOT NULL CHECK (role IN ('viewer', 'operator', 'owner', 'shop')),
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz
);
