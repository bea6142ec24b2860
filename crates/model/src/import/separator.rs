//! What stands between two fields.

use std::str::FromStr;

/// What stands between two fields of a record of `csv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// `,`, as RFC 4180 has it.
    Comma,
    /// `;`, which spreadsheets write where the comma is the decimal point.
    Semicolon,
    /// A tab.
    Tab,
    /// `|`.
    Bar,
    /// `----`, as suppliers in China write. Quotes have no meaning beside it.
    Dashes,
}

impl Separator {
    /// Every separator.
    pub const ALL: [Self; 5] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Bar, Self::Dashes];

    /// The separator as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Comma => ",",
            Self::Semicolon => ";",
            Self::Tab => "\t",
            Self::Bar => "|",
            Self::Dashes => "----",
        }
    }

    /// The byte that it is, or is made of.
    pub(super) const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Bar => b'|',
            Self::Dashes => b'-',
        }
    }
}

/// A text that is no [`Separator`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown separator; it is `,`, `;`, `tab`, `|` or `----`")]
pub struct UnknownSeparator;

impl FromStr for Separator {
    type Err = UnknownSeparator;

    fn from_str(text: &str) -> Result<Self, UnknownSeparator> {
        match text {
            "tab" | "\\t" => Ok(Self::Tab),
            _ => Self::ALL.into_iter().find(|separator| separator.as_str() == text).ok_or(UnknownSeparator),
        }
    }
}
