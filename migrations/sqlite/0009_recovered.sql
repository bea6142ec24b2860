-- Copies of the data that an operator has recovered from: an issuer that last worked with one of them may go on.

CREATE TABLE recovered (
    generation BLOB PRIMARY KEY CHECK (length(generation) = 16),  -- the generation that ended
    sets INTEGER NOT NULL CHECK (sets >= 0),  -- issuing sets that the copy knew of
    burned INTEGER NOT NULL CHECK (burned >= 0),  -- positions burned in all batches
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER recovered_no_update BEFORE UPDATE ON recovered
BEGIN SELECT raise(ABORT, 'recovered is append-only'); END;
CREATE TRIGGER recovered_no_delete BEFORE DELETE ON recovered
BEGIN SELECT raise(ABORT, 'recovered is append-only'); END;
