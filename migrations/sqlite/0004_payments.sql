-- Payments, the ledger of money, and notices that need a person.

CREATE TABLE payment (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    provider TEXT NOT NULL,
    reference TEXT NOT NULL,             -- the provider's name for it
    order_reference TEXT NOT NULL,       -- the order as the notice wrote it
    order_id BLOB REFERENCES orders (id),             -- the order it was matched with
    minor INTEGER NOT NULL CHECK (minor > 0),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    paid_at INTEGER,                     -- as the provider says
    received_at INTEGER NOT NULL,
    reason TEXT,                         -- why a person has to look
    CONSTRAINT payment_reference UNIQUE (reference, provider)  -- this way round it serves a search by reference
) STRICT, WITHOUT ROWID;
CREATE INDEX payment_order ON payment (order_id) WHERE order_id IS NOT NULL;

-- Append-only. A payment's entries sum to what arrived; a move is minus in the old state and plus in the new.
CREATE TABLE money_entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    payment BLOB NOT NULL REFERENCES payment (id),
    order_id BLOB REFERENCES orders (id),
    amount INTEGER NOT NULL CHECK (amount <> 0),
    state TEXT NOT NULL CHECK (state IN ('settled', 'short', 'refund_due', 'refunded', 'unmatched')),
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX money_payment ON money_entry (payment);
CREATE INDEX money_order ON money_entry (order_id) WHERE order_id IS NOT NULL;
CREATE TRIGGER money_entry_no_update BEFORE UPDATE ON money_entry
BEGIN SELECT raise(ABORT, 'money_entry is append-only'); END;
CREATE TRIGGER money_entry_no_delete BEFORE DELETE ON money_entry
BEGIN SELECT raise(ABORT, 'money_entry is append-only'); END;

-- Notices that were refused or contradict what is known, with what arrived.
CREATE TABLE notice (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    provider TEXT NOT NULL,
    reason TEXT NOT NULL,
    body BLOB NOT NULL,                  -- at most 64 KiB of it
    received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
