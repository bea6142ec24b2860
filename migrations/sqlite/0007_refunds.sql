-- Refunds: that money of a payment went back, told by an operator or by a provider's notice.

-- Append-only. What moved of a payment's refunds is the sum of its money that is refunded.
CREATE TABLE refund (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    payment BLOB NOT NULL REFERENCES payment (id),
    provider TEXT NOT NULL,              -- the payment's
    teller TEXT NOT NULL CHECK (teller IN ('operator', 'notice')),
    reference TEXT NOT NULL,             -- the operator's name for it, or the notice's own id (`webhook-id`)
    minor INTEGER NOT NULL CHECK (minor > 0),         -- as it was told
    moved INTEGER NOT NULL CONSTRAINT refund_moved CHECK (moved BETWEEN 0 AND minor),  -- less when less was there
    repeats TEXT,                        -- the operator's refund that this notice tells of again
    at INTEGER NOT NULL,
    CONSTRAINT refund_repeats CHECK (repeats IS NULL OR (teller = 'notice' AND moved = 0))
) STRICT;
-- An operator's refund is named once a provider, and a notice moves money once; some providers number the events of
-- each payment.
CREATE UNIQUE INDEX refund_reference ON refund (reference, provider) WHERE teller = 'operator';
CREATE UNIQUE INDEX refund_notice ON refund (payment, reference) WHERE teller = 'notice';
CREATE UNIQUE INDEX refund_told ON refund (payment, repeats) WHERE repeats IS NOT NULL;
CREATE INDEX refund_payment ON refund (payment);
CREATE TRIGGER refund_no_update BEFORE UPDATE ON refund
BEGIN SELECT raise(ABORT, 'refund is append-only'); END;
CREATE TRIGGER refund_no_delete BEFORE DELETE ON refund
BEGIN SELECT raise(ABORT, 'refund is append-only'); END;

-- Payments with money that is not where it came to rest: what operators list.
CREATE INDEX money_open ON money_entry (state, payment) WHERE state <> 'settled';
