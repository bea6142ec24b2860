//! Properties that hold for any file.

use std::slice::from_ref;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{Seen, fields, laid_open, only_code, read, seen};
use crate::import::{CODE_BYTES_MAX, CodeText, Encoding, FIELDS_MAX, Format, Layout, Separator};

fn format() -> impl Strategy<Value = Format> {
    select(vec![Format::Lines, Format::Csv])
}

/// Files made of the pieces the parser has an opinion on, much likelier than in arbitrary bytes.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let pieces: [&[u8]; 18] = [
        b"\r",
        b"\n",
        b"\r\n",
        b",",
        b"\"",
        b"\"\"",
        b"a",
        b"bc",
        b" ",
        b"\t",
        b"\0",
        b"\x1f",
        b"\xef",
        b"\xbb\xbf",
        b"\xff",
        b"\xfe",
        "é".as_bytes(),
        "\u{3000}".as_bytes(),
    ];
    let long = vec![b'x'; CODE_BYTES_MAX - 3];
    let piece = prop_oneof![
        60 => select(pieces.map(<[u8]>::to_vec).to_vec()),
        1 => Just(long),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Text of a field: no control characters; in `csv`, line ends too.
fn text(format: Format) -> BoxedStrategy<String> {
    let char = prop_oneof![
        select(vec!['"', ',', ' ', '\t', '=', '&', '\u{feff}', '\u{3000}', '🎟']),
        any::<char>().prop_map(|char| if char.is_control() { 'x' } else { char }),
    ];
    let char = match format {
        Format::Lines => char.boxed(),
        Format::Csv => prop_oneof![8 => char, 1 => select(vec!['\r', '\n'])].boxed(),
    };
    vec(char, 0..12).prop_map(String::from_iter).boxed()
}

fn record() -> impl Strategy<Value = Vec<String>> {
    vec(text(Format::Csv), 1..=FIELDS_MAX)
}

fn is_blank(fields: &[String]) -> bool {
    fields.iter().all(|field| field.chars().all(char::is_whitespace))
}

fn line_end() -> impl Strategy<Value = &'static str> {
    select(vec!["\n", "\r\n", "\r"])
}

/// Writes a field as RFC 4180 has it: in quotes where it must be, or where `quoted` asks for it.
fn written(field: &str, quoted: bool) -> String {
    if quoted || field.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// How many line ends a text has, by another way than the parser's.
fn line_ends(text: &str) -> u64 {
    u64::try_from(text.replace("\r\n", "\n").matches(['\r', '\n']).count()).unwrap()
}

/// Whatever may be said of a file.
fn layout() -> impl Strategy<Value = Layout> {
    let encodings: Vec<Option<Encoding>> = Encoding::ALL.into_iter().map(Some).chain([None]).collect();
    let separators: Vec<Option<Separator>> = Separator::ALL.into_iter().map(Some).chain([None]).collect();
    (format(), select(separators), select(encodings), any::<bool>(), any::<bool>()).prop_map(
        |(format, separator, encoding, no_header, as_is)| Layout {
            format,
            separator,
            no_header,
            encoding,
            as_is,
        },
    )
}

/// Pieces of files in every encoding: marks, headers, half characters, dashes.
fn any_file() -> impl Strategy<Value = Vec<u8>> {
    let pieces: [&[u8]; 16] = [
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        "卡号".as_bytes(),
        b"\xbf\xa8\xba\xc5",
        b"\xc3\xdc",
        b"\xc3",
        b"\x94\x39\xfc\x36",
        b"code,pin",
        b"code;state;batch",
        b"----",
        b"-",
        b"A\0",
        b"\0\xd8",
        b"'",
        b"\n\0",
    ];
    let others: [&[u8]; 6] = [b"\r", b"\n", b",", b"\"", b"a", b"\xff"];
    let pieces = pieces.into_iter().chain(others).map(<[u8]>::to_vec).collect::<Vec<_>>();
    vec(select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_make_the_same_rows_however_they_are_cut(
        layout in layout(),
        file in any_file(),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(file.len() + 1)).collect();
        ends.extend([0, file.len()]);
        ends.sort_unstable();
        let chunks: Vec<&[u8]> = ends.windows(2).map(|pair| &file[pair[0]..pair[1]]).collect();
        let bytes: Vec<&[u8]> = file.chunks(1).collect();
        let (whole, found) = read(&layout, &[&file]);
        let (cut, found_cut) = read(&layout, &chunks);
        prop_assert_eq!((laid_open(cut), found_cut), (laid_open(whole.clone()), found.clone()));
        let (single, found_single) = read(&layout, &bytes);
        prop_assert_eq!((laid_open(single), found_single), (laid_open(whole), found));
    }

    #[test]
    fn rows_do_not_depend_on_where_chunks_are_cut(
        format in format(),
        file in file(),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(file.len() + 1)).collect();
        ends.extend([0, file.len()]);
        ends.sort_unstable();
        let chunks: Vec<&[u8]> = ends.windows(2).map(|pair| &file[pair[0]..pair[1]]).collect();
        let bytes: Vec<&[u8]> = file.chunks(1).collect();
        let whole = seen(format, &[&file]);
        prop_assert_eq!(&seen(format, &chunks), &whole);
        prop_assert_eq!(&seen(format, &bytes), &whole);
    }

    #[test]
    fn rows_stand_in_the_order_of_their_lines(format in format(), file in file()) {
        let lines: Vec<u64> = seen(format, &[&file])
            .into_iter()
            .map(|row| match row {
                Seen::Code(line, _) | Seen::Blank(line) | Seen::Malformed(line, _) => line,
            })
            .collect();
        prop_assert!(lines.is_sorted(), "{lines:?}");
    }

    #[test]
    fn lines_come_back_as_they_were_written(
        texts in vec(text(Format::Lines), 0..20),
        line_end in line_end(),
        last_is_ended: bool,
    ) {
        let mut file = format!("\u{feff}{}", texts.join(line_end));
        let last_is_seen = last_is_ended || texts.last().is_some_and(|text| !text.is_empty());
        if last_is_ended && !texts.is_empty() {
            file.push_str(line_end);
        }
        let count = if last_is_seen { texts.len() } else { texts.len().saturating_sub(1) };
        let expected: Vec<Seen> = (1..)
            .zip(texts.into_iter().take(count))
            .map(|(line, text)| if is_blank(from_ref(&text)) { Seen::Blank(line) } else { Seen::Code(line, vec![text]) })
            .collect();
        prop_assert_eq!(seen(Format::Lines, &[file.as_bytes()]), expected);
    }

    #[test]
    fn csv_comes_back_as_it_was_written(
        records in vec((record(), any::<u16>()), 0..12),
        line_end in line_end(),
    ) {
        let mut file = String::from("\u{feff}");
        let mut expected = Vec::new();
        let mut line = 1;
        for (record, quoted) in records {
            let fields: Vec<String> =
                record.iter().zip(0..).map(|(field, at)| written(field, quoted >> at & 1 == 1)).collect();
            let text = fields.join(",") + line_end;
            let start = line;
            line += line_ends(&text);
            file.push_str(&text);
            expected.push(if is_blank(&record) { Seen::Blank(start) } else { Seen::Code(start, record) });
        }
        prop_assert_eq!(seen(Format::Csv, &[file.as_bytes()]), expected);
    }

    #[test]
    fn canonical_bytes_are_those_of_one_list_of_fields_only(a in record(), b in record()) {
        prop_assume!(!is_blank(&a) && !is_blank(&b));
        let [code_a, code_b] = [&a, &b].map(|record| parsed(record));
        prop_assert_eq!(code_a.canonical() == code_b.canonical(), a == b);
        // The nearest neighbours: the same text, divided otherwise.
        let joined = vec![a.join(" ")];
        prop_assert_eq!(code_a.canonical() == parsed(&joined).canonical(), a.len() == 1);
        let more: Vec<String> = a.iter().cloned().chain([String::new()]).take(FIELDS_MAX).collect();
        prop_assert_eq!(code_a.canonical() == parsed(&more).canonical(), a == more);
    }

    #[test]
    fn canonical_bytes_give_the_code_back(record in record()) {
        prop_assume!(!is_blank(&record));
        let code = parsed(&record);
        let back = CodeText::from_canonical(code.canonical().to_vec()).unwrap();
        prop_assert_eq!(fields(&back), record);
    }

    #[test]
    fn lines_and_csv_of_one_field_seal_the_same_bytes(text in text(Format::Lines)) {
        let text = format!("k{text}");
        let quoted = parsed(from_ref(&text));
        prop_assert_eq!(quoted.canonical(), text.as_bytes());
        prop_assert_eq!(only_code(Format::Lines, &text), quoted);
    }
}

/// The code of a record, by way of the parser.
fn parsed(record: &[String]) -> CodeText {
    let fields: Vec<String> = record.iter().map(|field| written(field, true)).collect();
    only_code(Format::Csv, &fields.join(","))
}
