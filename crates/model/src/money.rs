//! Money: whole minor units of one currency. Never a float, never a silent overflow.

/// An ISO 4217 code: three capital letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// Reads a code such as `CNY`.
    ///
    /// # Errors
    /// [`NotACurrency`] for anything but three capital letters.
    pub fn parse(text: &str) -> Result<Self, NotACurrency> {
        match text.as_bytes() {
            [a, b, c] if [a, b, c].iter().all(|x| x.is_ascii_uppercase()) => Ok(Self([*a, *b, *c])),
            _ => Err(NotACurrency),
        }
    }

    /// The code.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Display for Currency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

impl std::fmt::Debug for Currency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

/// The text is no currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a currency: give an ISO 4217 code in capitals, such as CNY")]
pub struct NotACurrency;

/// An amount in minor units (fen, cents) of a currency. May be negative in a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Money {
    /// Minor units, as ISO 4217 counts them for the currency.
    pub minor: i64,
    /// The currency.
    pub currency: Currency,
}

/// The largest price, in minor units: leaves room for 100 000 of them in one order.
pub const PRICE_MINOR_MAX: i64 = 10_000_000_000;

/// The largest amount that is taken in one payment, in minor units: the dearest order there can be. Sums of
/// thousands of them still fit into 64 bits.
pub const PAYMENT_MINOR_MAX: i64 = PRICE_MINOR_MAX * 100_000;

/// The sum does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the amount is too large")]
pub struct AmountTooLarge;

impl Money {
    /// `minor` units of `currency`.
    pub const fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// This price taken `quantity` times.
    ///
    /// # Errors
    /// [`AmountTooLarge`] when the product does not fit into 64 bits.
    pub fn times(self, quantity: i64) -> Result<Self, AmountTooLarge> {
        let minor = self.minor.checked_mul(quantity).ok_or(AmountTooLarge)?;
        Ok(Self { minor, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_is_three_capitals() {
        assert_eq!(Currency::parse("CNY").unwrap().code(), "CNY");
        for bad in ["", "cny", "CN", "CNYX", "C Y", "元"] {
            assert_eq!(Currency::parse(bad), Err(NotACurrency), "{bad}");
        }
    }

    #[test]
    fn a_price_times_too_many_is_an_error_not_a_wrap() {
        let cny = Currency::parse("CNY").unwrap();
        assert_eq!(Money::new(1990, cny).times(388), Ok(Money::new(772_120, cny)));
        assert_eq!(Money::new(i64::MAX, cny).times(2), Err(AmountTooLarge));
    }
}
