//! Coupon formats: how a generated code is written, and read again when somebody types it.
//!
//! A format such as `SPRING-XXXX-XXXX` holds one number below [`Format::capacity`] in Crockford's base32 and
//! guards it with a check symbol. Which number stands at which index is the format's [`Permutation`], so codes
//! are computed and never stored; pools of one format take consecutive intervals of its indexes.

mod fault;
mod symbols;

#[cfg(test)]
mod tests;

pub use fault::FormatFault;
pub use symbols::check_symbol;

use crate::keys::{Secret, mac};
use crate::permutation::Permutation;

/// The most characters of a format.
pub const FORMAT_CHARS_MAX: usize = 64;
/// The fewest X's of a format.
pub const PLACES_MIN: usize = 4;
/// The most X's of a format: twelve symbols of five bits and the check symbol, so that indexes fit into `i64`.
pub const PLACES_MAX: usize = 13;
/// Of so many guesses with a right check symbol, one is a code when a format gives out all it may: 2^20.
pub const GUESSES_PER_CODE: i64 = 1_048_576;

/// What stands for a symbol. There is no way to write a literal X.
const PLACE: char = 'X';

/// A pattern such as `SPRING-XXXX-XXXX`.
///
/// Every `X` is a place for a symbol of Crockford's base32, also the X of a word: `XMAS-XXXXXXXX` has nine places.
/// The last one is a Luhn mod 32 check symbol over the others. All else stands in each code as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Format(String);

impl Format {
    /// Reads a format: 1–64 printable ASCII characters without white space and small letters, 4–13 of them X.
    ///
    /// # Errors
    /// [`FormatFault`] says what is wrong and what to do.
    pub fn parse(text: &str) -> Result<Self, FormatFault> {
        let length = text.chars().count();
        if !(1..=FORMAT_CHARS_MAX).contains(&length) {
            return Err(FormatFault::Length);
        }
        if text.contains(|c: char| c.is_ascii_lowercase()) {
            return Err(FormatFault::SmallLetter);
        }
        if !text.chars().all(|c| c.is_ascii_graphic()) {
            return Err(FormatFault::Alphabet);
        }
        match text.matches(PLACE).count() {
            PLACES_MIN..=PLACES_MAX => Ok(Self(text.to_owned())),
            places => Err(FormatFault::Places { places }),
        }
    }

    /// The pattern, as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many strings with a right check symbol the format has: 32 to the power of its X's but one.
    pub fn capacity(&self) -> i64 {
        let bits = self.values() * 5;
        1_i64.checked_shl(u32::try_from(bits).unwrap_or(u32::MAX)).unwrap_or(i64::MAX)
    }

    /// The most codes all pools of the format may hold together, so that they stay unguessable.
    ///
    /// One of [`GUESSES_PER_CODE`] (1 048 576) guesses with a right check symbol is then a code; one of 32 times as
    /// many when the guesser leaves the check symbol to chance. Formats of four X's hold none, of five X's one.
    pub fn codes_max(&self) -> i64 {
        self.capacity() / GUESSES_PER_CODE
    }

    /// The format's permutation, derived from its own key.
    pub fn order(&self, secret: &Secret) -> Permutation {
        Permutation::new(&mac(secret, &[b"tessera coupon 1"]), self.capacity())
    }

    /// The code at an index. `order` is the format's permutation of `0..capacity`; `None` outside it.
    pub fn code(&self, order: &Permutation, index: i64) -> Option<String> {
        let number = order.of(index).filter(|n| *n < self.capacity())?;
        let mut values = symbols::values_of(number, self.values());
        values.push(check_symbol(&values));
        let mut symbols = values.into_iter().map(symbols::write);
        self.0.chars().map(|c| if c == PLACE { symbols.next() } else { Some(c) }).collect()
    }

    /// The index of a code as people type it; `None` for what no index has, a wrong check symbol included.
    ///
    /// Case does not matter, O reads as 0, I and L as 1, hyphens may be missing or too many, and white space may
    /// stand around. That is never ambiguous: neither symbols nor their number depend on hyphens.
    pub fn index(&self, order: &Permutation, code: &str) -> Option<i64> {
        let (pattern, typed) = (self.plain(), plain(code));
        if pattern.len() != typed.len() {
            return None;
        }
        let mut values = Vec::with_capacity(PLACES_MAX);
        for (wanted, found) in pattern.into_iter().zip(typed) {
            match wanted {
                PLACE => values.push(symbols::read(found)?),
                literal if literal == found => {}
                _ => return None,
            }
        }
        let check = values.pop()?;
        let number = symbols::number_of(&values);
        order.inverse(number).filter(|_| check_symbol(&values) == check)
    }

    /// Whether some string reads as a code of both formats: such formats must not be in one shop.
    ///
    /// Compared as codes are read, without hyphens and case; check symbols are left out of account, so a few pairs
    /// are called colliding that never are. A format collides with itself.
    pub fn collides(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.plain(), other.plain());
        let meet = |(a, b): (&char, &char)| match (*a, *b) {
            (PLACE, PLACE) => true,
            (PLACE, literal) | (literal, PLACE) => symbols::read(literal).is_some(),
            (a, b) => a == b,
        };
        ours.len() == theirs.len() && ours.iter().zip(&theirs).all(meet)
    }

    /// Symbols that carry the number: the X's without the check symbol.
    fn values(&self) -> usize {
        self.0.matches(PLACE).count().saturating_sub(1)
    }

    /// The pattern as [`plain`] makes it. X is no alias, so places stay places.
    fn plain(&self) -> Vec<char> {
        plain(&self.0)
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What counts of a typed code: capitals, aliases replaced, no hyphens nor white space around.
///
/// Cut one after the longest format, so that a long text costs no more than a short one and still does not match.
fn plain(text: &str) -> Vec<char> {
    let counted = text.trim().chars().filter(|c| !is_hyphen(*c));
    counted.take(FORMAT_CHARS_MAX + 1).map(|c| symbols::fold(c.to_ascii_uppercase())).collect()
}

/// A hyphen, or what phones and word processors make of one.
const fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}
