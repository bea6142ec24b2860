-- Copies of the data that an operator has recovered from: an issuer that last worked with one of them may go on.

CREATE TABLE recovered (
    generation bytea PRIMARY KEY CHECK (octet_length(generation) = 16),  -- the generation that ended
    sets bigint NOT NULL CHECK (sets >= 0),  -- issuing sets that the copy knew of
    burned bigint NOT NULL CHECK (burned >= 0),  -- positions burned in all batches
    at timestamptz NOT NULL
);
CREATE TRIGGER recovered_no_update BEFORE UPDATE ON recovered FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER recovered_no_delete BEFORE DELETE ON recovered FOR EACH ROW EXECUTE FUNCTION append_only();
