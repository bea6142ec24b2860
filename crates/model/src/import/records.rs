//! From the text of a file to its records: the first row is judged, the others are scanned.

use std::str;

use zeroize::Zeroizing;

use super::header::{self, First};
use super::scanner::Scanner;
use super::{CODE_BYTES_MAX, Format, Layout, MalformedReason, Row, Separator};

/// What a row that a spreadsheet did not use is made of, beside white space.
const UNUSED: &str = ",;|\"";

/// The records of a file.
pub(super) struct Records {
    /// The first line that is not blank, until it is known what it is; at most [`CODE_BYTES_MAX`] bytes and its end.
    first: Option<Zeroizing<Vec<u8>>>,
    said: Option<Separator>,
    scanner: Scanner,
    found: Option<(Separator, Vec<String>)>,
    /// Nothing more of the file is read.
    refused: bool,
}

impl Records {
    pub(super) fn new(layout: &Layout) -> Self {
        let has_header = layout.format == Format::Csv && !layout.no_header;
        let separator = match layout.format {
            Format::Lines => None,
            Format::Csv => Some(layout.separator.unwrap_or(Separator::Comma)),
        };
        Self {
            first: has_header.then(|| Zeroizing::new(Vec::with_capacity(CODE_BYTES_MAX + 1))),
            said: layout.separator,
            scanner: Scanner::new(separator, layout.as_is),
            found: None,
            refused: false,
        }
    }

    /// Reads on.
    pub(super) fn feed(&mut self, mut text: &[u8], out: &mut Vec<Row>) {
        while let Some(first) = self.first.as_mut().filter(|_| !self.refused && !text.is_empty()) {
            let end = text.iter().position(|byte| matches!(byte, b'\r' | b'\n')).map(|at| at + 1);
            let room = CODE_BYTES_MAX + 1 - first.len();
            let (some, rest) = text.split_at(end.unwrap_or(text.len()).min(room));
            first.extend_from_slice(some);
            text = rest;
            if end.is_some_and(|end| end <= room) || first.len() > CODE_BYTES_MAX {
                self.first_line(out);
            }
        }
        if !self.refused {
            self.scanner.feed(text, out);
        }
    }

    /// Ends the file; returns the header, if there is one, with what stands between its names.
    pub(super) fn finish(mut self, out: &mut Vec<Row>) -> Option<(Separator, Vec<String>)> {
        if self.first.as_ref().is_some_and(|first| !first.is_empty()) && !self.refused {
            self.first_line(out);
        }
        if !self.refused {
            self.scanner.finish(out);
        }
        self.found
    }

    /// Bytes that are no character stand here: the line is at fault.
    pub(super) fn fault(&mut self, reason: MalformedReason, out: &mut Vec<Row>) {
        if self.refused {
            return;
        }
        // A line at fault is no header.
        if let Some(first) = self.first.take() {
            self.scanner.feed(&first, out);
        }
        self.scanner.fault(reason, out);
    }

    /// Refuses the file from here on.
    pub(super) fn refuse(&mut self, reason: MalformedReason, out: &mut Vec<Row>) {
        out.push(Row::Malformed { line: self.scanner.line(), reason });
        self.refused = true;
    }

    /// The encoding is not known: a record that is not UTF-8 refuses the file.
    pub(super) fn undetected(&mut self) {
        self.scanner.undetected();
    }

    /// Judges the first line, and reads it; a blank one is not yet the first.
    fn first_line(&mut self, out: &mut Vec<Row>) {
        let Some(line) = self.first.take() else { return };
        let text = str::from_utf8(&line).ok().filter(|_| line.len() <= CODE_BYTES_MAX);
        match text.map(|text| text.trim_end_matches(['\r', '\n'])) {
            None => self.scanner.feed(&line, out),
            Some(text) if text.chars().all(|char| char.is_whitespace() || UNUSED.contains(char)) => {
                let is_divided = text.contains(|char| UNUSED.contains(char));
                self.blank(line, is_divided, out);
            }
            Some(text) => match header::judge(text, self.said) {
                First::Code => self.scanner.feed(&line, out),
                First::Unknown(reason) => self.refuse(reason, out),
                First::Header { separator, shape, names } => {
                    self.scanner.lay_out(separator, shape);
                    self.scanner.pass_over(&line, out);
                    self.found = Some((separator, names));
                }
            },
        }
    }

    /// Reads a line with nothing in it but, perhaps, separators, which are not known yet.
    fn blank(&mut self, mut line: Zeroizing<Vec<u8>>, is_divided: bool, out: &mut Vec<Row>) {
        if is_divided {
            out.push(Row::Blank { line: self.scanner.line() });
            self.scanner.pass_over(&line, out);
        } else {
            self.scanner.feed(&line, out);
        }
        line.clear();
        self.first = Some(line);
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.scanner.capacity() + self.first.as_ref().map_or(0, |first| first.capacity())
    }
}
