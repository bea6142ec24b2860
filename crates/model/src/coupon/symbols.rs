//! Crockford's base32 (<https://www.crockford.com/base32.html>) and the Luhn mod 32 check symbol over it.

/// Symbols by value: no I, L, O, which look like digits, and no U.
const ALPHABET: [u8; 32] = *b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The symbol of a value below 32.
pub(super) fn write(value: u8) -> char {
    char::from(ALPHABET[usize::from(value & 31)])
}

/// The value of a folded symbol.
pub(super) fn read(symbol: char) -> Option<u8> {
    let at = ALPHABET.iter().position(|s| char::from(*s) == symbol)?;
    u8::try_from(at).ok()
}

/// A capital as Crockford reads it: O is 0, I and L are 1.
pub(super) const fn fold(capital: char) -> char {
    match capital {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    }
}

/// The `count` base32 digits of a number, the most significant first.
pub(super) fn values_of(number: i64, count: usize) -> Vec<u8> {
    let mut rest = number;
    let mut values: Vec<u8> = std::iter::repeat_with(|| {
        let digit = u8::try_from(rest & 31).unwrap_or(0);
        rest >>= 5;
        digit
    })
    .take(count)
    .collect();
    values.reverse();
    values
}

/// The number whose digits these are; at most twelve, so it fits.
pub(super) fn number_of(values: &[u8]) -> i64 {
    values.iter().fold(0, |number, value| (number << 5) | i64::from(*value))
}

/// Luhn mod 32 over values below 32: what has to follow them so that the whole sums to a multiple of 32.
///
/// From the right, every other value, the last one first, counts double; of a double above 31 the base32 digits
/// are added. It catches every single wrong symbol and every swap of two neighbours but 0 and Z.
pub fn check_symbol(symbols: &[u8]) -> u8 {
    let mut double = true;
    let mut sum = 0_u8;
    for value in symbols.iter().rev().map(|value| value & 31) {
        let counted = if double { value * 2 } else { value };
        // Both terms and the sum stay below 128.
        sum = (sum + counted / 32 + counted % 32) % 32;
        double = !double;
    }
    (32 - sum) % 32
}
