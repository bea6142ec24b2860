//! What can be wrong with a coupon format.

use super::{FORMAT_CHARS_MAX, PLACES_MAX, PLACES_MIN};

/// Why a format was refused. Display completes a sentence that begins with the field's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatFault {
    /// Nothing, or too much.
    #[error("has to have 1 to {FORMAT_CHARS_MAX} characters: write it like SPRING-XXXX-XXXX")]
    Length,
    /// Codes are read without regard to case.
    #[error("has a small letter: write it in capitals; buyers may type codes in either")]
    SmallLetter,
    /// Not a printable ASCII character.
    #[error(
        "has a character that is not allowed: use capitals, digits and ASCII punctuation, no white space"
    )]
    Alphabet,
    /// Too few or too many X's.
    #[error(
        "has {places} X's, and every X, also that of a word, stands for a symbol: \
         give {PLACES_MIN} to {PLACES_MAX} of them"
    )]
    Places {
        /// How many it has.
        places: usize,
    },
}
