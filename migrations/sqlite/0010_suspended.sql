-- An issuer that finds this to be an older copy of its data stops every issuer, until `tessera recover` was run.

ALTER TABLE store ADD COLUMN suspended INTEGER NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1));
CREATE TRIGGER store_suspended BEFORE UPDATE ON store WHEN OLD.suspended = 1 AND NEW.sets <> OLD.sets
BEGIN SELECT raise(ABORT, 'issuing is suspended'); END;
-- Issuers look at the newest open batches every second.
CREATE INDEX batch_open ON batch (id) WHERE state = 'open';
