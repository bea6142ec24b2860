-- Coupons and raffles: products whose codes are computed, and the rounds that raffles are sold in.

-- What a coupon is made of. `count` is what was asked for so far: a higher one adds a pool.
ALTER TABLE product ADD COLUMN coupon_count INTEGER CHECK (coupon_count > 0);
ALTER TABLE product ADD COLUMN coupon_format TEXT
    CONSTRAINT product_coupon CHECK ((kind = 'coupon') = (coupon_format IS NOT NULL)
        AND (coupon_format IS NULL) = (coupon_count IS NULL));
ALTER TABLE product ADD COLUMN coupon_expires_at INTEGER;
-- What a raffle is made of. Each round freezes what was said when it opened.
ALTER TABLE product ADD COLUMN raffle_shares INTEGER CHECK (raffle_shares > 0);
ALTER TABLE product ADD COLUMN raffle_first_number INTEGER CHECK (raffle_first_number >= 0);
ALTER TABLE product ADD COLUMN raffle_draw_after INTEGER CHECK (raffle_draw_after >= 0);  -- seconds
ALTER TABLE product ADD COLUMN raffle_entropy TEXT
    CONSTRAINT product_raffle CHECK ((kind = 'raffle') = (raffle_shares IS NOT NULL)
        AND (raffle_shares IS NULL) = (raffle_first_number IS NULL)
        AND (raffle_shares IS NULL) = (raffle_draw_after IS NULL)
        AND (raffle_shares IS NULL) = (raffle_entropy IS NULL));
ALTER TABLE product ADD COLUMN raffle_last_round INTEGER CHECK (raffle_last_round > 0);

-- Whether orders claim. A raffle's do not while another round follows: any quantity may be ordered then.
ALTER TABLE stock ADD COLUMN claims INTEGER NOT NULL DEFAULT 1
    CHECK (claims IN (0, 1)) CONSTRAINT stock_unclaimed CHECK (claims OR claimed = 0);

-- A raffle's own random key, wrapped for (raffle, product): the seeds of its rounds are derived from it.
CREATE TABLE raffle (
    product BLOB PRIMARY KEY REFERENCES product (id),
    key_id TEXT NOT NULL,
    wrapped BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A coupon format's own random key, wrapped for (coupon_format, format): one permutation for all its pools.
CREATE TABLE coupon_format (
    format TEXT PRIMARY KEY,
    key_id TEXT NOT NULL,
    wrapped BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Indexes [start, upto) of a format's permutation, each pool beginning where another ends: two pools cannot emit
-- the same string.
CREATE TABLE pool (
    format TEXT NOT NULL REFERENCES coupon_format (format),
    upto INTEGER NOT NULL,
    start INTEGER,                       -- NULL in the anchor alone
    batch BLOB REFERENCES batch (id),
    CONSTRAINT pool_upto PRIMARY KEY (format, upto),
    CONSTRAINT pool_start UNIQUE (format, start),
    CONSTRAINT pool_batch UNIQUE (batch),
    CONSTRAINT pool_chain FOREIGN KEY (format, start) REFERENCES pool (format, upto),
    CONSTRAINT pool_bounds CHECK (CASE WHEN start IS NULL THEN upto = 0 ELSE start >= 0 AND upto > start END),
    CONSTRAINT pool_anchor CHECK ((start IS NULL) = (batch IS NULL))
) STRICT, WITHOUT ROWID;

-- A raffle's rounds; each is a batch whose positions are shares.
CREATE TABLE round (
    batch BLOB PRIMARY KEY,
    product BLOB NOT NULL REFERENCES product (id),
    number INTEGER NOT NULL CHECK (number > 0),
    state TEXT NOT NULL CHECK (state IN ('open', 'full', 'drawn', 'cancelled')),
    shares INTEGER NOT NULL,
    first_number INTEGER NOT NULL,
    draw_after INTEGER NOT NULL,         -- seconds from full to the draw
    commitment BLOB NOT NULL CHECK (length(commitment) = 32),  -- SHA-256 of the seed, published as the round opens
    entropy_rule TEXT NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32),  -- of the shares issued so far; frozen once the round is full
    opened_at INTEGER NOT NULL,
    full_at INTEGER,
    draw_at INTEGER,
    entropy BLOB,                        -- of a beacon, once it is known
    drawn_at INTEGER,
    winning_position INTEGER,
    winning_number INTEGER,
    cancelled_at INTEGER,
    CONSTRAINT round_number UNIQUE (product, number),
    CONSTRAINT round_shares FOREIGN KEY (batch, shares) REFERENCES batch (id, size),
    CONSTRAINT round_full CHECK (CASE state WHEN 'open' THEN full_at IS NULL
        WHEN 'cancelled' THEN 1 ELSE full_at IS NOT NULL END AND (full_at IS NULL) = (draw_at IS NULL)),
    CONSTRAINT round_drawn CHECK ((state = 'drawn') = (drawn_at IS NOT NULL)
        AND (drawn_at IS NULL) = (winning_position IS NULL) AND (drawn_at IS NULL) = (winning_number IS NULL)),
    CONSTRAINT round_winner CHECK (winning_position >= 0 AND winning_position < shares),
    CONSTRAINT round_cancelled CHECK ((state = 'cancelled') = (cancelled_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
-- One round of a raffle is sold at a time.
CREATE UNIQUE INDEX round_open ON round (product) WHERE state = 'open';
-- Draws that are due.
CREATE INDEX round_due ON round (draw_at) WHERE state = 'full';

-- What it takes to read the codes of a batch: its own key, and those of what its codes are computed from.
CREATE VIEW batch_reading AS
SELECT b.id, b.product, b.kind, b.state, coalesce(b.size, 0) AS size, b.issued, b.pick, b.key_id, b.wrapped,
    b.format, p.start AS pool_start, f.key_id AS format_key_id, f.wrapped AS format_wrapped,
    r.number AS round_number, r.first_number AS round_first, a.key_id AS raffle_key_id, a.wrapped AS raffle_wrapped
FROM batch b
LEFT JOIN pool p ON p.batch = b.id
LEFT JOIN coupon_format f ON f.format = b.format
LEFT JOIN round r ON r.batch = b.id
LEFT JOIN raffle a ON a.product = r.product;

-- A draw is written once, and what was promised when the round opened never changes.
CREATE TRIGGER round_frozen BEFORE UPDATE ON round
WHEN OLD.state IN ('drawn', 'cancelled')
    OR (OLD.state = 'full' AND (NEW.digest, NEW.full_at, NEW.draw_at) IS NOT (OLD.digest, OLD.full_at, OLD.draw_at))
    OR (OLD.entropy IS NOT NULL AND NEW.entropy IS NOT OLD.entropy)
    OR (NEW.batch, NEW.product, NEW.number, NEW.shares, NEW.first_number, NEW.draw_after, NEW.commitment,
            NEW.entropy_rule, NEW.opened_at)
        IS NOT (OLD.batch, OLD.product, OLD.number, OLD.shares, OLD.first_number, OLD.draw_after, OLD.commitment,
            OLD.entropy_rule, OLD.opened_at)
BEGIN SELECT raise(ABORT, 'what a round has promised is frozen'); END;
CREATE TRIGGER round_no_delete BEFORE DELETE ON round
BEGIN SELECT raise(ABORT, 'round is append-only'); END;
CREATE TRIGGER pool_no_update BEFORE UPDATE ON pool
BEGIN SELECT raise(ABORT, 'pool is append-only'); END;
CREATE TRIGGER pool_no_delete BEFORE DELETE ON pool
BEGIN SELECT raise(ABORT, 'pool is append-only'); END;
