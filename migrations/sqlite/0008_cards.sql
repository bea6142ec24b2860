-- What is known of movements of stock beyond the chain, and of positions that were voided.

-- When, who and why, of a span that no order asked for, and of replacements. An issue has none: its order tells. A void
-- span without one steps around voided positions, which tell for themselves.
CREATE TABLE span_cause (
    batch BLOB NOT NULL,
    upto INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,                 -- as in the audit log
    reason TEXT,
    CONSTRAINT span_cause_span PRIMARY KEY (batch, upto),
    CONSTRAINT span_cause_of FOREIGN KEY (batch, upto) REFERENCES span (batch, upto)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER span_cause_no_update BEFORE UPDATE ON span_cause
BEGIN SELECT raise(ABORT, 'span_cause is append-only'); END;
CREATE TRIGGER span_cause_no_delete BEFORE DELETE ON span_cause
BEGIN SELECT raise(ABORT, 'span_cause is append-only'); END;

ALTER TABLE voided_position ADD COLUMN actor TEXT;  -- NULL in those voided before it was kept
ALTER TABLE voided_position
    ADD COLUMN part INTEGER CHECK (part >= 0);  -- the part of its line that stands in its place, if one does

-- What was done to one thing.
CREATE INDEX audit_subject ON audit (subject);
