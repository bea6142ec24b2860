//! One record while it is read: a buffer that does not grow, and the verdict on what is in it.

use std::str;

use memchr::{memchr, memchr_iter};
use zeroize::Zeroizing;

use super::code::SEPARATOR;
use super::header::Shape;
use super::written::{EXPORTED_BYTES_MAX, read_row};
use super::{CODE_BYTES_MAX, CodeText, FIELDS_MAX, MalformedReason, Row};

/// The record being read: its fields without their quotes, joined by [`SEPARATOR`].
pub(super) struct Record {
    line: u64,
    /// Allocated once at its full size: growing would leave copies of codes behind in memory.
    bytes: Zeroizing<Vec<u8>>,
    shape: Shape,
    /// What seems to be damaged is a code all the same.
    as_is: bool,
    /// The file's encoding is not known.
    undetected: bool,
}

impl Record {
    /// An empty record on the first line.
    pub(super) fn new(as_is: bool) -> Self {
        let bytes = Zeroizing::new(Vec::with_capacity(EXPORTED_BYTES_MAX));
        Self { line: 1, bytes, shape: Shape::Any, as_is, undetected: false }
    }

    /// Learns how records are laid out, before the first.
    pub(super) fn lay_out(&mut self, shape: Shape) {
        self.shape = shape;
    }

    /// Learns that nothing tells the file's encoding.
    pub(super) fn undetected(&mut self) {
        self.undetected = true;
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
        let fitting = bytes.get(..self.bytes_max() - self.bytes.len()).unwrap_or(bytes);
        if memchr(SEPARATOR, fitting).is_some() {
            return Err(MalformedReason::ControlCharacter(char::from(SEPARATOR)));
        }
        self.bytes.extend_from_slice(fitting);
        if fitting.len() < bytes.len() { Err(MalformedReason::TooLong) } else { Ok(()) }
    }

    /// Ends the current field and begins the next.
    pub(super) fn next_field(&mut self) -> Result<(), MalformedReason> {
        if self.bytes.len() == self.bytes_max() {
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

    const fn bytes_max(&self) -> usize {
        match self.shape {
            Shape::Any | Shape::Columns(_) => CODE_BYTES_MAX,
            Shape::Exported(_) => EXPORTED_BYTES_MAX,
        }
    }

    /// The code, or none if all is white space.
    fn code(&self) -> Result<Option<CodeText>, MalformedReason> {
        let joined = str::from_utf8(&self.bytes).map_err(|_| match self.undetected {
            true => MalformedReason::UndetectedEncoding,
            false => MalformedReason::NotUtf8,
        })?;
        // First of all, as a spreadsheet may write an unused row as any number of commas.
        if joined.chars().all(|char| char.is_whitespace() || char == char::from(SEPARATOR)) {
            return Ok(None);
        }
        if let Some(control) = joined.chars().find(|char| is_refused(*char)) {
            return Err(MalformedReason::ControlCharacter(control));
        }
        let fields = memchr_iter(SEPARATOR, &self.bytes).count() + 1;
        match self.shape {
            Shape::Exported(columns) => return read_row(joined, columns).map(Some),
            Shape::Columns(columns) if fields != columns => {
                return Err(MalformedReason::FieldCount { fields, columns });
            }
            Shape::Any | Shape::Columns(_) if fields > FIELDS_MAX => {
                return Err(MalformedReason::TooManyFields);
            }
            Shape::Any | Shape::Columns(_) => {}
        }
        self.undamaged(joined)?;
        Ok(Some(CodeText::of_joined(joined)))
    }

    /// Refuses what a tool between the supplier and us has damaged.
    fn undamaged(&self, joined: &str) -> Result<(), MalformedReason> {
        if self.as_is {
            return Ok(());
        }
        if joined.contains(char::REPLACEMENT_CHARACTER) {
            return Err(MalformedReason::Replaced);
        }
        match joined.split(char::from(SEPARATOR)).any(is_shortened) {
            true => Err(MalformedReason::Shortened),
            false => Ok(()),
        }
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

/// Whether a field is a number as a spreadsheet shows a long one, such as `1.2E+17`.
fn is_shortened(field: &str) -> bool {
    let Some((digits, exponent)) = field.split_once("E+").or_else(|| field.split_once("e+")) else {
        return false;
    };
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    whole.len() == 1 && all_digits(whole) && all_digits(part) && exponent.len() >= 2 && all_digits(exponent)
}
