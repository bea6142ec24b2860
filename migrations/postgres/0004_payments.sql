-- Payments, the ledger of money, and notices that need a person.

CREATE TABLE payment (
    id uuid PRIMARY KEY,
    provider text COLLATE "C" NOT NULL,
    reference text COLLATE "C" NOT NULL, -- the provider's name for it
    order_reference text NOT NULL,       -- the order as the notice wrote it
    order_id uuid REFERENCES orders (id),             -- the order it was matched with
    minor bigint NOT NULL CHECK (minor > 0),
    currency text NOT NULL CHECK (length(currency) = 3),
    paid_at timestamptz,                 -- as the provider says
    received_at timestamptz NOT NULL,
    reason text,                         -- why a person has to look
    CONSTRAINT payment_reference UNIQUE (reference, provider)  -- this way round it serves a search by reference
);
CREATE INDEX payment_order ON payment (order_id) WHERE order_id IS NOT NULL;

-- Append-only. A payment's entries sum to what arrived; a move is minus in the old state and plus in the new.
CREATE TABLE money_entry (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment uuid NOT NULL REFERENCES payment (id),
    order_id uuid REFERENCES orders (id),
    amount bigint NOT NULL CHECK (amount <> 0),
    state text NOT NULL CHECK (state IN ('settled', 'short', 'refund_due', 'refunded', 'unmatched')),
    at timestamptz NOT NULL
);
CREATE INDEX money_payment ON money_entry (payment);
CREATE INDEX money_order ON money_entry (order_id) WHERE order_id IS NOT NULL;
-- Differs from SQLite because TRUNCATE passes the triggers of rows. `append_only` is in 0003.
CREATE TRIGGER money_entry_no_update BEFORE UPDATE ON money_entry FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER money_entry_no_delete BEFORE DELETE ON money_entry FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER money_entry_no_truncate BEFORE TRUNCATE ON money_entry EXECUTE FUNCTION append_only();

-- Notices that were refused or contradict what is known, with what arrived.
CREATE TABLE notice (
    id uuid PRIMARY KEY,
    provider text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    body bytea NOT NULL,                 -- at most 64 KiB of it
    received_at timestamptz NOT NULL
);
