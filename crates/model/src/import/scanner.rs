//! Splits bytes into records and fields.
//!
//! One small machine reads both formats: `lines` is `csv` in which neither separator nor quote has a meaning. It is
//! our own because a general CSV reader accepts the records that must be refused here.
//!
//! ```text
//! Start ──"──▶ Quoted ◀──"──▶ Closed        a quote after a closing one was a doubled quote
//!   │                           │
//!   └─other─▶ Plain ──,──▶ Field ◀──,──┘    Field is Start, but within a record; `,` is any separator
//!
//! any but Quoted ──line end──▶ Start        any fault ──▶ Skip ──line end──▶ Start
//! ```

use std::mem;

use memchr::{memchr2, memchr3};

use super::header::Shape;
use super::record::Record;
use super::{MalformedReason, Row, Separator};

const LF: u8 = b'\n';
const CR: u8 = b'\r';
const QUOTE: u8 = b'"';
const DASH: u8 = b'-';

/// Dashes of a separator that is made of them.
const DASHES: usize = Separator::Dashes.as_str().len();

/// Where the next byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a record.
    Start,
    /// After a separator, at the start of a field.
    Field,
    /// In a field without quotes.
    Plain,
    /// In a quoted field.
    Quoted,
    /// After the quote that closes a field, if no other follows.
    Closed,
    /// In a line whose fault is already told.
    Skip,
}

/// The machine, and the one record it holds.
pub(super) struct Scanner {
    /// What stands between fields; none in `lines`.
    separator: Option<Separator>,
    state: State,
    /// The physical line of the next byte.
    line: u64,
    /// The last byte was a CR: a LF that follows belongs to the same line end.
    after_cr: bool,
    /// Dashes just before the next byte, where they may be a separator.
    dashes: usize,
    record: Record,
}

impl Scanner {
    /// A machine at the start of a file, after its byte order mark.
    pub(super) fn new(separator: Option<Separator>, as_is: bool) -> Self {
        let record = Record::new(as_is);
        Self { separator, state: State::Start, line: 1, after_cr: false, dashes: 0, record }
    }

    /// Learns from the header how the records below it are laid out.
    pub(super) fn lay_out(&mut self, separator: Separator, shape: Shape) {
        self.separator = Some(separator);
        self.record.lay_out(shape);
    }

    /// Learns that nothing tells the file's encoding.
    pub(super) fn undetected(&mut self) {
        self.record.undetected();
    }

    /// The physical line of the next byte.
    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    /// Reads a line that makes no row.
    pub(super) fn pass_over(&mut self, line: &[u8], out: &mut Vec<Row>) {
        self.state = State::Skip;
        self.feed(line, out);
    }

    /// Reads on.
    pub(super) fn feed(&mut self, mut chunk: &[u8], out: &mut Vec<Row>) {
        while !chunk.is_empty() {
            let end = self.special(chunk).unwrap_or(chunk.len());
            let (text, rest) = chunk.split_at(end);
            if !text.is_empty() {
                self.end_dashes(out);
                self.text(text, out);
            }
            chunk = rest;
            if let Some((&byte, rest)) = chunk.split_first() {
                self.punctuation(byte, out);
                chunk = rest;
            }
        }
    }

    /// Reads bytes that are no character.
    pub(super) fn fault(&mut self, reason: MalformedReason, out: &mut Vec<Row>) {
        self.end_dashes(out);
        self.after_cr = false;
        if self.state != State::Skip {
            self.fail(reason, out);
        }
    }

    /// Ends the file.
    pub(super) fn finish(mut self, out: &mut Vec<Row>) {
        self.end_dashes(out);
        match self.state {
            State::Start | State::Skip => {}
            State::Field | State::Plain | State::Closed => out.push(self.record.verdict()),
            State::Quoted => out.push(self.record.malformed(MalformedReason::UnclosedQuote)),
        }
    }

    /// The first byte of the chunk that has a meaning here.
    fn special(&self, chunk: &[u8]) -> Option<usize> {
        match (self.separator, self.state) {
            (None, _) | (_, State::Skip) => memchr2(CR, LF, chunk),
            (Some(Separator::Dashes), _) => memchr3(DASH, CR, LF, chunk),
            (Some(_), State::Quoted) => memchr3(QUOTE, CR, LF, chunk),
            (Some(separator), _) => {
                let separator = separator.byte();
                chunk.iter().position(|byte| *byte == separator || matches!(*byte, QUOTE | CR | LF))
            }
        }
    }

    /// Reads bytes that have no meaning of their own.
    fn text(&mut self, text: &[u8], out: &mut Vec<Row>) {
        self.after_cr = false;
        match self.state {
            State::Start | State::Field | State::Plain => {
                self.state = State::Plain;
                self.keep(text, out);
            }
            State::Quoted => self.keep(text, out),
            State::Closed => self.fail(MalformedReason::TextAfterQuote, out),
            State::Skip => {}
        }
    }

    fn punctuation(&mut self, byte: u8, out: &mut Vec<Row>) {
        let after_cr = mem::replace(&mut self.after_cr, byte == CR);
        if byte == DASH {
            self.dashes += 1;
            return;
        }
        self.end_dashes(out);
        match byte {
            QUOTE => self.quote(out),
            LF if after_cr && self.state == State::Quoted => self.keep_line_end(byte, out),
            LF if after_cr => {}
            CR | LF => self.line_end(byte, out),
            _ => self.next_field(out),
        }
    }

    /// Reads the dashes just before: text if they are few, or as many separators as they make.
    fn end_dashes(&mut self, out: &mut Vec<Row>) {
        let dashes = mem::take(&mut self.dashes);
        match (dashes / DASHES, dashes % DASHES) {
            (0, 0) => {}
            (0, few) => self.text(&[DASH; DASHES][..few], out),
            (separators, 0) => (0..separators).for_each(|_| self.next_field(out)),
            _ if self.state == State::Skip => {}
            _ => self.fail(MalformedReason::AmbiguousDashes, out),
        }
    }

    /// Reads a separator outside quotes. The text just before it may have been a fault.
    fn next_field(&mut self, out: &mut Vec<Row>) {
        if self.state == State::Skip {
            return;
        }
        self.state = State::Field;
        if let Err(reason) = self.record.next_field() {
            self.fail(reason, out);
        }
    }

    fn quote(&mut self, out: &mut Vec<Row>) {
        match self.state {
            State::Start | State::Field => self.state = State::Quoted,
            State::Quoted => self.state = State::Closed,
            State::Closed => {
                self.state = State::Quoted;
                self.keep(&[QUOTE], out);
            }
            State::Plain => self.fail(MalformedReason::StrayQuote, out),
            State::Skip => {}
        }
    }

    /// Reads the first byte of a line end.
    fn line_end(&mut self, byte: u8, out: &mut Vec<Row>) {
        self.line += 1;
        match self.state {
            State::Quoted => return self.keep_line_end(byte, out),
            State::Skip => {}
            State::Start | State::Field | State::Plain | State::Closed => out.push(self.record.verdict()),
        }
        self.start_record();
    }

    /// Keeps a byte of a quoted line end. If it is one too many, the next line has already begun: none is skipped.
    fn keep_line_end(&mut self, byte: u8, out: &mut Vec<Row>) {
        self.keep(&[byte], out);
        if self.state == State::Skip {
            self.start_record();
        }
    }

    fn keep(&mut self, bytes: &[u8], out: &mut Vec<Row>) {
        if let Err(reason) = self.record.push(bytes) {
            self.fail(reason, out);
        }
    }

    fn fail(&mut self, reason: MalformedReason, out: &mut Vec<Row>) {
        out.push(self.record.malformed(reason));
        self.state = State::Skip;
    }

    fn start_record(&mut self) {
        self.state = State::Start;
        self.record.start(self.line);
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.record.capacity()
    }
}
