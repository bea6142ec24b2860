-- An issuer that finds this to be an older copy of its data stops every issuer, until `tessera recover` was run.

ALTER TABLE store ADD COLUMN suspended boolean NOT NULL DEFAULT false;
CREATE FUNCTION store_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'issuing is suspended' USING ERRCODE = 'object_not_in_prerequisite_state';
END $$;
CREATE TRIGGER store_suspended BEFORE UPDATE ON store FOR EACH ROW
    WHEN (OLD.suspended AND NEW.sets <> OLD.sets) EXECUTE FUNCTION store_suspended();
-- Issuers look at the newest open batches every second.
CREATE INDEX batch_open ON batch (id) WHERE state = 'open';
