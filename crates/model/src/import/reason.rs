//! Why a record is malformed.

use super::{CODE_BYTES_MAX, FIELDS_MAX};

/// Why a record is malformed. Its text states the fault and the remedy, and never quotes the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MalformedReason {
    /// The file begins with the byte order mark of UTF-16; nothing of it was read.
    #[error("the file is UTF-16; save it as UTF-8")]
    Utf16,
    /// The record's bytes are not UTF-8, or end within a character.
    #[error("not UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// A control character (Unicode's `Cc`) other than a tab, or a line end within quotes.
    #[error("control character U+{:04X}; remove it, or save the file as plain UTF-8 text", u32::from(*.0))]
    ControlCharacter(char),
    /// More than [`CODE_BYTES_MAX`] bytes; the rest of the line was skipped unread.
    #[error(
        "longer than {max} bytes; shorten it, or look for a lost line end or a missing closing quote",
        max = CODE_BYTES_MAX
    )]
    TooLong,
    /// More than [`FIELDS_MAX`] fields.
    #[error("more than {max} fields; keep only those of the code", max = FIELDS_MAX)]
    TooManyFields,
    /// A quote within a field that does not begin with one.
    #[error("quote inside an unquoted field; put the whole field in quotes and double each quote in it")]
    StrayQuote,
    /// Text between a closing quote and the next comma or line end.
    #[error("text after a closing quote; double each quote inside a quoted field")]
    TextAfterQuote,
    /// The file ended within a quoted field.
    #[error("quoted field still open at the end of the file; close it with a quote")]
    UnclosedQuote,
}
