-- What is known of movements of stock beyond the chain, and of positions that were voided.

-- When, who and why, of a span that no order asked for, and of replacements. An issue has none: its order tells. A void
-- span without one steps around voided positions, which tell for themselves.
CREATE TABLE span_cause (
    batch uuid NOT NULL,
    upto bigint NOT NULL,
    at timestamptz NOT NULL,
    actor text NOT NULL,                 -- as in the audit log
    reason text,
    CONSTRAINT span_cause_span PRIMARY KEY (batch, upto),
    CONSTRAINT span_cause_of FOREIGN KEY (batch, upto) REFERENCES span (batch, upto)
);
CREATE TRIGGER span_cause_no_update BEFORE UPDATE ON span_cause FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER span_cause_no_delete BEFORE DELETE ON span_cause FOR EACH ROW EXECUTE FUNCTION append_only();

ALTER TABLE voided_position
    ADD COLUMN actor text,               -- NULL in those voided before it was kept
    ADD COLUMN part integer CHECK (part >= 0);  -- the part of its line that stands in its place, if one does

-- What was done to one thing.
CREATE INDEX audit_subject ON audit (subject COLLATE "C");
