//! From the bytes of a file to its text.
//!
//! ```text
//! Head ──mark, pattern of NULs──▶ Decoding (UTF-16)
//!   └──▶ Ascii ──first other byte──▶ Sample ──64 KiB or the end──▶ Utf8 | Decoding (GB 18030) | Utf8, undetected
//! ```
//!
//! ASCII is the same in UTF-8 and GB 18030, so what comes before the first other byte needs no decision, however
//! long it is. From there on a sample is held back and judged; nothing after it is judged again: a byte that the
//! encoding does not have is a fault of its line, and the other encoding is never tried on the rest.

use std::str;

use zeroize::Zeroizing;

use super::mark::{self, HEAD_BYTES, Mark};
use super::records::Records;
use super::{Encoding, MalformedReason, Row, chinese};

/// Bytes held back to judge the encoding by, from the first that is not ASCII.
pub(super) const SAMPLE_BYTES: usize = 65_536;

/// Bytes of text decoded at once.
const DECODED_BYTES: usize = 8_192;

/// The bytes of a file on their way to its records.
pub(super) struct Input {
    /// What the caller says it is.
    said: Option<Encoding>,
    stage: Stage,
}

enum Stage {
    /// The first bytes of the file, fewer than [`HEAD_BYTES`].
    Head(Zeroizing<Vec<u8>>),
    /// Nothing but ASCII so far.
    Ascii,
    /// What follows the first byte that is not, fewer than [`SAMPLE_BYTES`].
    Sample(Zeroizing<Vec<u8>>),
    /// UTF-8, which is judged record by record.
    Utf8,
    Decoding(Encoding, encoding_rs::Decoder),
    /// In an encoding that is not read: its rest would only repeat that.
    Refused,
}

impl Input {
    pub(super) fn new(said: Option<Encoding>) -> Self {
        Self { said, stage: Stage::Head(room(HEAD_BYTES)) }
    }

    /// The encoding, once it is known; none while all is ASCII.
    pub(super) fn encoding(&self) -> Option<Encoding> {
        match &self.stage {
            Stage::Decoding(encoding, _) => Some(*encoding),
            Stage::Utf8 => Some(Encoding::Utf8),
            Stage::Head(_) | Stage::Ascii | Stage::Sample(_) | Stage::Refused => None,
        }
    }

    pub(super) fn feed(&mut self, mut chunk: &[u8], records: &mut Records, out: &mut Vec<Row>) {
        while !chunk.is_empty() {
            chunk = self.step(chunk, records, out);
        }
    }

    pub(super) fn finish(&mut self, records: &mut Records, out: &mut Vec<Row>) {
        if let Stage::Head(head) = &mut self.stage {
            let head = std::mem::take(head);
            self.begin(&head, records, out);
        }
        match &mut self.stage {
            Stage::Sample(sample) => {
                let sample = std::mem::take(sample);
                self.judge(&sample, true, records, out);
                self.end(records, out);
            }
            _ => self.end(records, out),
        }
    }

    /// A character may be cut off at the end of the file.
    fn end(&mut self, records: &mut Records, out: &mut Vec<Row>) {
        if let Stage::Decoding(encoding, decoder) = &mut self.stage {
            decode(decoder, &[], true, *encoding, records, out);
        }
    }

    /// Reads the bytes that the stage takes; returns the others.
    fn step<'c>(&mut self, chunk: &'c [u8], records: &mut Records, out: &mut Vec<Row>) -> &'c [u8] {
        match &mut self.stage {
            Stage::Head(head) => {
                let rest = fill(head, HEAD_BYTES, chunk);
                if head.len() == HEAD_BYTES {
                    let head = std::mem::take(head);
                    self.begin(&head, records, out);
                }
                rest
            }
            Stage::Ascii => {
                let ascii = chunk.iter().position(|byte| !byte.is_ascii()).unwrap_or(chunk.len());
                let (text, rest) = chunk.split_at(ascii);
                records.feed(text, out);
                if !rest.is_empty() {
                    self.stage = Stage::Sample(room(SAMPLE_BYTES));
                }
                rest
            }
            Stage::Sample(sample) => {
                let rest = fill(sample, SAMPLE_BYTES, chunk);
                if sample.len() == SAMPLE_BYTES {
                    let sample = std::mem::take(sample);
                    self.judge(&sample, false, records, out);
                }
                rest
            }
            Stage::Utf8 => {
                records.feed(chunk, out);
                &[]
            }
            Stage::Decoding(encoding, decoder) => {
                decode(decoder, chunk, false, *encoding, records, out);
                &[]
            }
            Stage::Refused => &[],
        }
    }

    /// Begins with what the first bytes tell, and reads them.
    fn begin(&mut self, head: &[u8], records: &mut Records, out: &mut Vec<Row>) {
        let (mark, rest) = mark::split(head);
        let marked = match mark {
            Some(Mark::Utf32) => return self.refuse(MalformedReason::Utf32, records, out),
            Some(Mark::Of(marked)) if self.said.is_some_and(|said| said != marked) => {
                return self.refuse(MalformedReason::OtherMark(marked), records, out);
            }
            Some(Mark::Of(marked)) => Some(marked),
            None => None,
        };
        self.stage = match marked.or(self.said).or_else(|| mark::utf_16(head)) {
            None => Stage::Ascii,
            Some(Encoding::Utf8) => Stage::Utf8,
            Some(other) => Stage::Decoding(other, other.decoder()),
        };
        self.feed(rest, records, out);
    }

    /// Decides on a sample that is not all ASCII, and reads it.
    fn judge(&mut self, sample: &[u8], whole: bool, records: &mut Records, out: &mut Vec<Row>) {
        let utf_8 = match str::from_utf8(sample) {
            Ok(_) => true,
            Err(error) => !whole && error.error_len().is_none(),
        };
        self.stage = match (utf_8, chinese::is_unmistakable(sample, whole)) {
            (true, true) => return self.refuse(MalformedReason::TwoEncodings, records, out),
            (true, false) => Stage::Utf8,
            (false, true) => Stage::Decoding(Encoding::Gb18030, Encoding::Gb18030.decoder()),
            (false, false) => {
                records.undetected();
                Stage::Utf8
            }
        };
        self.feed(sample, records, out);
    }

    fn refuse(&mut self, reason: MalformedReason, records: &mut Records, out: &mut Vec<Row>) {
        records.refuse(reason, out);
        self.stage = Stage::Refused;
    }
}

/// A buffer of its full size: growing would leave copies of codes behind in memory.
fn room(bytes: usize) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(Vec::with_capacity(bytes))
}

/// Fills a buffer up to its size; returns what did not fit.
fn fill<'c>(buffer: &mut Vec<u8>, size: usize, chunk: &'c [u8]) -> &'c [u8] {
    let (fitting, rest) = chunk.split_at(chunk.len().min(size - buffer.len()));
    buffer.extend_from_slice(fitting);
    rest
}

fn decode(
    decoder: &mut encoding_rs::Decoder,
    mut bytes: &[u8],
    last: bool,
    encoding: Encoding,
    records: &mut Records,
    out: &mut Vec<Row>,
) {
    let mut text = Zeroizing::new([0; DECODED_BYTES]);
    loop {
        let (result, read, written) = decoder.decode_to_utf8_without_replacement(bytes, &mut *text, last);
        records.feed(&text[..written], out);
        bytes = &bytes[read..];
        match result {
            encoding_rs::DecoderResult::InputEmpty => return,
            encoding_rs::DecoderResult::OutputFull => {}
            encoding_rs::DecoderResult::Malformed(..) => {
                records.fault(MalformedReason::Undecodable(encoding), out);
            }
        }
    }
}
