-- Rounds that were called off, while the price of their shares is not all on its way back: it goes back in parts.

CREATE TABLE repayment (
    batch uuid PRIMARY KEY REFERENCES round (batch),
    upto bigint NOT NULL CHECK (upto >= 0)  -- shares at positions below it are done
);
