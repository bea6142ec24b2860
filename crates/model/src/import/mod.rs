//! Reads files of bought-in codes, chunk by chunk, into a verdict per record; and writes such files.
//!
//! Bytes go through four rooms: the encoding (`input`), the first row (`records`), the splitting into records
//! and fields (`scanner`), and the verdict on one whole record (`record`). The memory in use is that of
//! one code, and of a sample of 64 KiB by which the encoding is told, whatever the size of the file or of its lines.
//!
//! Nothing is repaired, and nothing guessed that could be guessed wrongly: a code is kept character for character, or
//! its line is refused with a reason. This module opens no file and knows no stock; `codes import` feeds it, caps the
//! list of malformed lines and looks for known codes.

mod code;
mod encoding;
mod reason;
mod separator;

mod chinese;
mod header;
mod input;
mod mark;
mod record;
mod records;
mod scanner;
mod written;

#[cfg(test)]
mod tests;

use std::str::FromStr;

pub use code::{CodeText, NotCanonical};
pub use encoding::{Encoding, UnknownEncoding};
pub use reason::MalformedReason;
pub use separator::{Separator, UnknownSeparator};
pub use written::{write_header, write_row};

use input::Input;
use records::Records;

/// The most bytes a code may have: those of its fields, and one between each two.
///
/// It bounds the parser's memory. A licence key or a signed token stays well below it; a file whose line
/// ends were lost does not.
pub const CODE_BYTES_MAX: usize = 4096;

/// The most fields a code may have, in `csv`.
pub const FIELDS_MAX: usize = 16;

/// How a file of codes is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One code per line. LF, CRLF and a lone CR end a line; every other byte of it is the code.
    Lines,
    /// [RFC 4180](https://www.rfc-editor.org/rfc/rfc4180): one code per record, of one or more fields.
    ///
    /// Fields are separated by commas, or by another [`Separator`], and may be quoted; a quote within a quoted field is
    /// doubled. Line ends are those of `Lines`; within quotes they belong to the field. Where the RFC leaves a reader
    /// free (a quote within an unquoted field, text after a closing quote) the record is malformed.
    Csv,
}

impl Format {
    /// The format a file's name asks for: `Csv` if it ends in `.csv`, in any ASCII case, or else `Lines`.
    pub fn of_name(name: &str) -> Self {
        match name.as_bytes().last_chunk::<4>() {
            Some(extension) if extension.eq_ignore_ascii_case(b".csv") => Self::Csv,
            _ => Self::Lines,
        }
    }
}

/// A name that is not that of a [`Format`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown format; it is `lines` or `csv`")]
pub struct UnknownFormat;

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        match name {
            "lines" => Ok(Self::Lines),
            "csv" => Ok(Self::Csv),
            _ => Err(UnknownFormat),
        }
    }
}

/// What is known of a file before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// How it is laid out.
    pub format: Format,
    /// What stands between fields of `csv`; if it is not said, what stands between the names of the header, or a comma.
    pub separator: Option<Separator>,
    /// Whether the first row of `csv` is a code, whatever it looks like.
    pub no_header: bool,
    /// How it is encoded; if it is not said, that is told from the bytes or the file refused.
    pub encoding: Option<Encoding>,
    /// Whether what seems to be damaged is a code all the same.
    pub as_is: bool,
}

impl From<Format> for Layout {
    fn from(format: Format) -> Self {
        Self { format, separator: None, no_header: false, encoding: None, as_is: false }
    }
}

/// What a file turned out to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Its encoding; none if it is ASCII or was refused before it was known.
    pub encoding: Option<Encoding>,
    /// What stands between the names of its header, and the names; none if it has no header.
    pub header: Option<(Separator, Vec<String>)>,
}

/// The verdict on one record of a file.
///
/// `line` counts from 1 and is the physical line on which the record starts; a record of `csv` may go on
/// over several. Every physical line belongs to exactly one row, except those skipped after a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// A code, to be imported unless it is known.
    Code {
        /// Where the record starts.
        line: u64,
        /// The code.
        code: CodeText,
    },
    /// An empty record, or one of white space only (Unicode's `White_Space`); counted, and no fault.
    Blank {
        /// Where the record starts.
        line: u64,
    },
    /// A record that holds no code which could be sold.
    Malformed {
        /// Where the record starts.
        line: u64,
        /// The fault and its remedy.
        reason: MalformedReason,
    },
}

/// Reads one file, fed in chunks of any size; where they are cut makes no difference to the rows.
///
/// After a malformed record it goes on with the next line, so that all of them are found in one run.
pub struct Parser {
    input: Input,
    records: Records,
}

impl Parser {
    /// A parser at the start of a file.
    pub fn new(layout: &Layout) -> Self {
        Self { input: Input::new(layout.encoding), records: Records::new(layout) }
    }

    /// Reads on, and appends to `out` the rows that are known by then.
    ///
    /// It appends at most one row per byte of `chunk` and of the sample: a caller that empties `out` between chunks of
    /// bounded size needs bounded memory.
    pub fn feed(&mut self, chunk: &[u8], out: &mut Vec<Row>) {
        self.input.feed(chunk, &mut self.records, out);
    }

    /// Ends the file: a last line without a line end counts as any other.
    pub fn finish(mut self, out: &mut Vec<Row>) -> Found {
        self.input.finish(&mut self.records, out);
        let encoding = self.input.encoding();
        Found { encoding, header: self.records.finish(out) }
    }

    #[cfg(test)]
    fn capacity(&self) -> usize {
        self.records.capacity()
    }
}
