//! Reads files of bought-in codes, chunk by chunk, into a verdict per record.
//!
//! Bytes go through three rooms: the byte order mark at the start (`mark`), the splitting into records
//! and fields (`scanner`), and the verdict on one whole record (`record`). The memory in use is that of
//! one code, whatever the size of the file or of its lines.
//!
//! Nothing is guessed or repaired: a code is kept byte for byte, or its line is refused with a reason.
//! In particular no first row is taken for a header: every row is a code. This module opens no file and
//! knows no stock; `codes import` feeds it, caps the list of malformed lines and looks for known codes.

mod code;
mod reason;

mod mark;
mod record;
mod scanner;

#[cfg(test)]
mod tests;

use std::str::FromStr;

pub use code::{CodeText, NotCanonical};
pub use reason::MalformedReason;

use mark::Mark;
use scanner::Scanner;

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
    /// Fields are separated by commas and may be quoted; a quote within a quoted field is doubled. Line ends
    /// are those of `Lines`; within quotes they belong to the field. Where the RFC leaves a reader free
    /// (a quote within an unquoted field, text after a closing quote) the record is malformed.
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
    /// A record that holds no code which could be sold; it refuses the file.
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
    stage: Stage,
    scanner: Scanner,
}

enum Stage {
    /// The bytes read so far, at most three, begin a byte order mark.
    Head(Vec<u8>),
    Records,
    /// The file is in an encoding that is not read; its rest would only repeat that.
    Refused,
}

impl Parser {
    /// A parser at the start of a file.
    pub fn new(format: Format) -> Self {
        Self { stage: Stage::Head(Vec::new()), scanner: Scanner::new(format) }
    }

    /// Reads on, and appends to `out` the rows that end in `chunk`.
    ///
    /// It appends at most one row per byte: a caller that empties `out` between chunks of bounded size
    /// needs bounded memory.
    pub fn feed(&mut self, chunk: &[u8], out: &mut Vec<Row>) {
        let rest = self.feed_head(chunk, out);
        if matches!(self.stage, Stage::Records) {
            self.scanner.feed(rest, out);
        }
    }

    /// Ends the file: a last line without a line end counts as any other.
    pub fn finish(mut self, out: &mut Vec<Row>) {
        if let Stage::Head(head) = &self.stage {
            self.scanner.feed(head, out);
        }
        self.scanner.finish(out);
    }

    /// Reads the byte order mark, if there is one, and returns what follows it.
    fn feed_head<'a>(&mut self, mut chunk: &'a [u8], out: &mut Vec<Row>) -> &'a [u8] {
        while let Stage::Head(head) = &mut self.stage
            && let Some((&byte, rest)) = chunk.split_first()
        {
            chunk = rest;
            head.push(byte);
            match mark::of(head) {
                Mark::Undecided => {}
                Mark::Utf8 => self.stage = Stage::Records,
                Mark::Utf16 => {
                    out.push(Row::Malformed { line: 1, reason: MalformedReason::Utf16 });
                    self.stage = Stage::Refused;
                }
                Mark::None => {
                    self.scanner.feed(head, out);
                    self.stage = Stage::Records;
                }
            }
        }
        chunk
    }
}
