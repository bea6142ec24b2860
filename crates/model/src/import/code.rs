//! A code as it is sold, and the bytes it is sealed and fingerprinted by.

use std::fmt;

use zeroize::{Zeroize, Zeroizing};

/// Stands between two fields of a code: ASCII's unit separator.
///
/// A control character, hence never within a field. What a code may hold can be widened, but never by this.
pub(super) const SEPARATOR: u8 = 0x1f;

/// A code as it is sold: one or more fields, kept apart.
///
/// A secret: `Debug` hides it, there is no `Display`, and it is wiped from memory when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct CodeText(Zeroizing<String>);

impl CodeText {
    /// The code whose fields are joined by [`SEPARATOR`] in `joined`.
    pub(super) fn of_joined(joined: &str) -> Self {
        Self(Zeroizing::new(joined.to_owned()))
    }

    /// The same, of a text that is wiped.
    pub(super) fn of_wiped(joined: Zeroizing<String>) -> Self {
        Self(joined)
    }

    /// The fields, at least one; a code from a `lines` file, and a generated one, has exactly one.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.split(char::from(SEPARATOR))
    }

    /// What a buyer is shown: the fields joined by one space.
    ///
    /// Two codes may look alike and still be two; [`Self::canonical`] tells them apart.
    pub fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(self.0.replace(char::from(SEPARATOR), " "))
    }

    /// The bytes that are sealed and fingerprinted: the fields in UTF-8, 0x1F between each two.
    ///
    /// No field holds that byte, so two lists of fields never have the same bytes; a code of one field is its own
    /// text, whichever format it came in. Stored codes depend on this form: it never changes.
    pub fn canonical(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The code whose [`Self::canonical`] bytes these are.
    ///
    /// The limits of an import are not applied: a code that was stored stays readable when they change.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] if the bytes are empty or not UTF-8; they are wiped.
    pub fn from_canonical(bytes: Vec<u8>) -> Result<Self, NotCanonical> {
        match String::from_utf8(bytes) {
            Ok(joined) if !joined.is_empty() => Ok(Self(Zeroizing::new(joined))),
            Ok(_) => Err(NotCanonical),
            Err(error) => {
                error.into_bytes().zeroize();
                Err(NotCanonical)
            }
        }
    }
}

impl fmt::Debug for CodeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeText(hidden)")
    }
}

/// Bytes that are not those of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the bytes of a code: empty, or not UTF-8")]
pub struct NotCanonical;
