-- Rounds that were called off, while the price of their shares is not all on its way back: it goes back in parts.

CREATE TABLE repayment (
    batch BLOB PRIMARY KEY REFERENCES round (batch),
    upto INTEGER NOT NULL CHECK (upto >= 0)  -- shares at positions below it are done
) STRICT, WITHOUT ROWID;
