-- Refunds: that money of a payment went back, told by an operator or by a provider's notice.

-- Append-only. What moved of a payment's refunds is the sum of its money that is refunded.
CREATE TABLE refund (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment uuid NOT NULL REFERENCES payment (id),
    provider text COLLATE "C" NOT NULL,  -- the payment's
    teller text NOT NULL CHECK (teller IN ('operator', 'notice')),
    reference text COLLATE "C" NOT NULL, -- the operator's name for it, or the notice's own id (`webhook-id`)
    minor bigint NOT NULL CHECK (minor > 0),          -- as it was told
    moved bigint NOT NULL CONSTRAINT refund_moved CHECK (moved BETWEEN 0 AND minor),  -- less when less was there
    repeats text COLLATE "C",            -- the operator's refund that this notice tells of again
    at timestamptz NOT NULL,
    CONSTRAINT refund_repeats CHECK (repeats IS NULL OR (teller = 'notice' AND moved = 0))
);
-- An operator's refund is named once a provider, and a notice moves money once; some providers number the events of
-- each payment.
CREATE UNIQUE INDEX refund_reference ON refund (reference, provider) WHERE teller = 'operator';
CREATE UNIQUE INDEX refund_notice ON refund (payment, reference) WHERE teller = 'notice';
CREATE UNIQUE INDEX refund_told ON refund (payment, repeats) WHERE repeats IS NOT NULL;
CREATE INDEX refund_payment ON refund (payment);
-- Differs from SQLite because TRUNCATE passes the triggers of rows. `append_only` is in 0003.
CREATE TRIGGER refund_no_update BEFORE UPDATE ON refund FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER refund_no_delete BEFORE DELETE ON refund FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER refund_no_truncate BEFORE TRUNCATE ON refund EXECUTE FUNCTION append_only();

-- Payments with money that is not where it came to rest: what operators list.
CREATE INDEX money_open ON money_entry (state, payment) WHERE state <> 'settled';
