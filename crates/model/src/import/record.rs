//! One record while it is read: a buffer that does not grow, and the verdict on what is in it.

use std::str;

use memchr::{memchr, memchr_iter};
use zeroize::Zeroizing;

use super::code::SEPARATOR;
use super::{CODE_BYTES_MAX, CodeText, FIELDS_MAX, MalformedReason, Row};

/// The record being read: its fields without their quotes, joined by [`SEPARATOR`].
pub(super) struct Record {
    line: u64,
    /// Allocated once at its full size: growing would leave copies of codes behind in memory.
    bytes: Zeroizing<Vec<u8>>,
}

impl Record {
    /// An empty record on the first line.
    pub(super) fn new() -> Self {
        Self { line: 1, bytes: Zeroizing::new(Vec::with_capacity(CODE_BYTES_MAX)) }
    }

    /// Empties it for the record that starts on `line`.
    pub(super) fn start(&mut self, line: u64) {
        self.line = line;
        self.bytes.clear();
    }

    /// Appends bytes to the current field.
    ///
    /// The fault is that of the first byte which cannot be kept, so it does not depend on how the bytes are cut.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), MalformedReason> {
        let fitting = bytes.get(..CODE_BYTES_MAX - self.bytes.len()).unwrap_or(bytes);
        if memchr(SEPARATOR, fitting).is_some() {
            return Err(MalformedReason::ControlCharacter(char::from(SEPARATOR)));
        }
        self.bytes.extend_from_slice(fitting);
        if fitting.len() < bytes.len() { Err(MalformedReason::TooLong) } else { Ok(()) }
    }

    /// Ends the current field and begins the next.
    pub(super) fn next_field(&mut self) -> Result<(), MalformedReason> {
        if self.bytes.len() == CODE_BYTES_MAX {
            return Err(MalformedReason::TooLong);
        }
        self.bytes.push(SEPARATOR);
        Ok(())
    }

    /// The row for a record read to its end.
    pub(super) fn verdict(&self) -> Row {
        match self.code() {
            Ok(Some(code)) => Row::Code { line: self.line, code },
            Ok(None) => Row::Blank { line: self.line },
            Err(reason) => self.malformed(reason),
        }
    }

    /// The row for a record with a fault.
    pub(super) fn malformed(&self, reason: MalformedReason) -> Row {
        Row::Malformed { line: self.line, reason }
    }

    /// The code, or none if all is white space.
    fn code(&self) -> Result<Option<CodeText>, MalformedReason> {
        let joined = str::from_utf8(&self.bytes).map_err(|_| MalformedReason::NotUtf8)?;
        // First of all, as a spreadsheet may write an unused row as any number of commas.
        if joined.chars().all(|char| char.is_whitespace() || char == char::from(SEPARATOR)) {
            return Ok(None);
        }
        if let Some(control) = joined.chars().find(|char| is_refused(*char)) {
            return Err(MalformedReason::ControlCharacter(control));
        }
        if memchr_iter(SEPARATOR, &self.bytes).count() >= FIELDS_MAX {
            return Err(MalformedReason::TooManyFields);
        }
        Ok(Some(CodeText::of_joined(joined)))
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

/// Whether a character may not stand in a record.
///
/// A line end gets this far only from within quotes, and a separator only between fields (see [`Record::push`]).
fn is_refused(char: char) -> bool {
    char.is_control() && !matches!(char, '\t' | '\r' | '\n') && char != char::from(SEPARATOR)
}
