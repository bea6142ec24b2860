//! Why a record is malformed.

use super::header::known_names;
use super::{CODE_BYTES_MAX, Encoding, FIELDS_MAX};

/// Why a record is malformed. Its text states the fault and the remedy, and never quotes the code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MalformedReason {
    /// The file begins with the byte order mark of UTF-32; nothing of it was read.
    #[error("the file is UTF-32; save it as UTF-8")]
    Utf32,
    /// The file begins with the byte order mark of another encoding than the one said; nothing of it was read.
    #[error("the file begins with the byte order mark of {}; say that encoding, or none", .0.as_str())]
    OtherMark(Encoding),
    /// What is not ASCII reads well in either encoding.
    #[error("the text can be read as utf-8 and as gb18030; say which it is (--encoding)")]
    TwoEncodings,
    /// The record's bytes are not UTF-8, and nothing tells what they are.
    #[error(
        "not UTF-8, nor another encoding for certain; save the file as UTF-8, or say what it is \
         (--encoding utf-8, utf-16le, utf-16be or gb18030)"
    )]
    UndetectedEncoding,
    /// The record's bytes are not UTF-8, or end within a character.
    #[error("not UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// The record's bytes are not of the file's encoding.
    #[error("bytes that are no character of {}; save the file as UTF-8", .0.as_str())]
    Undecodable(Encoding),
    /// A first row some of whose fields are known names of columns, with the others' names.
    #[error(
        "columns that are not known: {0}; leave only those of the code, named {names}; or say that there is no \
         header (--no-header)", names = known_names()
    )]
    UnknownColumns(String),
    /// A first row that seems to be a header and has no known name, with its names.
    #[error(
        "a header that is not known: {0}; name the code's columns {names}; or say that there is no header \
         (--no-header)", names = known_names()
    )]
    UnknownHeader(String),
    /// Another number of fields than the header has.
    #[error("{fields} fields where the header has {columns}; quote a field that holds the separator")]
    FieldCount {
        /// Those of the row.
        fields: usize,
        /// Those of the header.
        columns: usize,
    },
    /// More than four dashes in a row, which divide fields in more than one way.
    #[error("more than four dashes in a row; divide the fields by another separator")]
    AmbiguousDashes,
    /// A row of an exported file in which a code's cell is not as it was written.
    #[error("a code that does not begin with an apostrophe, as it was exported; export again")]
    NoApostrophe,
    /// A number as spreadsheets shorten it, in a field of its own.
    #[error(
        "a long number that a spreadsheet has shortened, as in 1.2E+17; ask for the file as the supplier made it, \
         or take it as it is (--as-is)"
    )]
    Shortened,
    /// The character that stands for one that was lost.
    #[error(
        "the replacement character U+FFFD; ask for the file as the supplier made it, or take it as it is (--as-is)"
    )]
    Replaced,
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
    /// Text between a closing quote and the next separator or line end.
    #[error("text after a closing quote; double each quote inside a quoted field")]
    TextAfterQuote,
    /// The file ended within a quoted field.
    #[error("quoted field still open at the end of the file; close it with a quote")]
    UnclosedQuote,
}

impl MalformedReason {
    /// Whether the fault is of the file, not of one line: it cannot be skipped.
    pub const fn is_of_file(&self) -> bool {
        match self {
            Self::Utf32
            | Self::OtherMark(_)
            | Self::TwoEncodings
            | Self::UndetectedEncoding
            | Self::UnknownColumns(_)
            | Self::UnknownHeader(_) => true,
            Self::NotUtf8
            | Self::Undecodable(_)
            | Self::FieldCount { .. }
            | Self::AmbiguousDashes
            | Self::NoApostrophe
            | Self::Shortened
            | Self::Replaced
            | Self::ControlCharacter(_)
            | Self::TooLong
            | Self::TooManyFields
            | Self::StrayQuote
            | Self::TextAfterQuote
            | Self::UnclosedQuote => false,
        }
    }
}
