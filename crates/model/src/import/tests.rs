//! What becomes of the files people really have; what only `csv` has is in `csv` and `headers`, what bytes stand for in
//! `encodings`, files that were exported in `exported`, and the laws that hold for any file are in `laws`.

mod csv;
mod encodings;
mod exported;
mod headers;
mod laws;

use super::written::EXPORTED_BYTES_MAX;
use super::{CODE_BYTES_MAX, CodeText, Format, Found, Layout, MalformedReason, NotCanonical, Parser, Row};

/// A row with its code laid open: `CodeText` hides it from failed assertions.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Code(u64, Vec<String>),
    Blank(u64),
    Malformed(u64, MalformedReason),
}

/// The rows of a file, and what it turned out to be.
fn read(layout: &Layout, chunks: &[&[u8]]) -> (Vec<Row>, Found) {
    let mut out = Vec::new();
    let mut parser = Parser::new(layout);
    for chunk in chunks {
        parser.feed(chunk, &mut out);
    }
    let found = parser.finish(&mut out);
    (out, found)
}

/// The rows of a file without a header, taken as it is.
fn rows(format: Format, chunks: &[&[u8]]) -> Vec<Row> {
    read(&Layout { no_header: true, as_is: true, ..format.into() }, chunks).0
}

fn fields(code: &CodeText) -> Vec<String> {
    code.fields().map(str::to_owned).collect()
}

fn laid_open(rows: Vec<Row>) -> Vec<Seen> {
    let see = |row| match row {
        Row::Code { line, code } => Seen::Code(line, fields(&code)),
        Row::Blank { line } => Seen::Blank(line),
        Row::Malformed { line, reason } => Seen::Malformed(line, reason),
    };
    rows.into_iter().map(see).collect()
}

fn seen(format: Format, chunks: &[&[u8]]) -> Vec<Seen> {
    laid_open(rows(format, chunks))
}

/// What is seen of a file of which only the layout is said.
fn seen_as(layout: &Layout, file: impl AsRef<[u8]>) -> Vec<Seen> {
    laid_open(read(layout, &[file.as_ref()]).0)
}

fn lines(file: impl AsRef<[u8]>) -> Vec<Seen> {
    seen(Format::Lines, &[file.as_ref()])
}

fn csv(file: impl AsRef<[u8]>) -> Vec<Seen> {
    seen(Format::Csv, &[file.as_ref()])
}

fn code<const N: usize>(line: u64, fields: [&str; N]) -> Seen {
    Seen::Code(line, fields.map(str::to_owned).to_vec())
}

fn only_code(format: Format, file: &str) -> CodeText {
    match rows(format, &[file.as_bytes()]).as_slice() {
        [Row::Code { code, .. }] => code.clone(),
        other => panic!("not one code: {other:?}"),
    }
}

#[test]
fn format_is_lines_unless_the_name_ends_in_csv() {
    for name in ["codes.csv", "x.CSV", "a.b.Csv", ".csv"] {
        assert_eq!(Format::of_name(name), Format::Csv, "{name}");
    }
    for name in ["codes.txt", "codes", "csv", "a.csv.gz", "a.csv ", "卡密"] {
        assert_eq!(Format::of_name(name), Format::Lines, "{name}");
    }
    assert_eq!("lines".parse(), Ok(Format::Lines));
    assert_eq!("csv".parse(), Ok(Format::Csv));
    assert!("CSV".parse::<Format>().is_err());
}

#[test]
fn blank_lines_between_codes_are_counted_not_failed() {
    for format in [Format::Lines, Format::Csv] {
        let rows = seen(format, &["A\n\nB\n \t\u{3000}\u{a0}\nC\r\n\r\nD".as_bytes()]);
        let a_to_d = [
            code(1, ["A"]),
            Seen::Blank(2),
            code(3, ["B"]),
            Seen::Blank(4),
            code(5, ["C"]),
            Seen::Blank(6),
            code(7, ["D"]),
        ];
        assert_eq!(rows, a_to_d, "{format:?}");
    }
}

#[test]
fn an_empty_file_has_no_rows_and_a_final_line_end_adds_none() {
    for file in ["", "\u{feff}"] {
        assert_eq!(lines(file), []);
        assert_eq!(csv(file), []);
    }
    for file in ["A", "A\n", "A\r", "A\r\n"] {
        assert_eq!(lines(file), [code(1, ["A"])]);
        assert_eq!(csv(file), [code(1, ["A"])]);
    }
    assert_eq!(lines(" "), [Seen::Blank(1)]);
}

#[test]
fn inner_and_outer_spaces_of_a_code_are_kept() {
    assert_eq!(lines("AB  CD 12\n\tX \u{3000}\n"), [code(1, ["AB  CD 12"]), code(2, ["\tX \u{3000}"])]);
    assert_eq!(csv("AB  CD 12, p \n"), [code(1, ["AB  CD 12", " p "])]);
}

#[test]
fn every_kind_of_line_end_ends_a_line_wherever_chunks_are_cut() {
    let chunks: [&[u8]; 6] = [b"A\r", b"\nB\r", b"C\n", b"\rD", b"\r\r", b"\nE"];
    let expected = [
        code(1, ["A"]),
        code(2, ["B"]),
        code(3, ["C"]),
        Seen::Blank(4),
        code(5, ["D"]),
        Seen::Blank(6),
        code(7, ["E"]),
    ];
    assert_eq!(seen(Format::Lines, &chunks), expected);
    assert_eq!(seen(Format::Csv, &chunks), expected);
}

#[test]
fn byte_order_mark_is_dropped_at_the_very_start_only() {
    assert_eq!(lines("\u{feff}A\n\u{feff}B"), [code(1, ["A"]), code(2, ["\u{feff}B"])]);
    assert_eq!(csv("\u{feff}\"A\",1"), [code(1, ["A", "1"])]);
    assert_eq!(lines("\u{feff}\u{feff}A"), [code(1, ["\u{feff}A"])]);
    assert_eq!(seen(Format::Lines, &[b"\xef", b"", b"\xbb", b"\xbfA"]), [code(1, ["A"])]);
    // Two bytes of the mark are no mark, but the start of another character, or of none.
    assert_eq!(lines("\u{fec0}A"), [code(1, ["\u{fec0}A"])]);
    assert_eq!(lines(b"\xef\xbb"), [Seen::Malformed(1, MalformedReason::UndetectedEncoding)]);
}

#[test]
fn every_malformed_line_is_told_and_the_good_ones_go_on() {
    let file = b"A\nB\xff\nC\0\nD\x7f\nE\xc2\x85\nF\x1f,\"\n\xc3\nG\n\xb1\xa8";
    let control = MalformedReason::ControlCharacter;
    let expected = |not_utf_8: MalformedReason| {
        [
            code(1, ["A"]),
            Seen::Malformed(2, not_utf_8.clone()),
            Seen::Malformed(3, control('\0')),
            Seen::Malformed(4, control('\x7f')),
            Seen::Malformed(5, control('\u{85}')),
            Seen::Malformed(6, control('\x1f')),
            Seen::Malformed(7, not_utf_8.clone()),
            code(8, ["G"]),
            Seen::Malformed(9, not_utf_8),
        ]
    };
    assert_eq!(lines(file), expected(MalformedReason::UndetectedEncoding));
    assert_eq!(csv(file), expected(MalformedReason::UndetectedEncoding));
    let said = Layout { encoding: Some(super::Encoding::Utf8), ..Format::Lines.into() };
    assert_eq!(seen_as(&said, file), expected(MalformedReason::NotUtf8));
}

#[test]
fn characters_that_mean_something_elsewhere_are_kept() {
    for text in [
        "%20",
        "a&b",
        "&amp;",
        "<b>",
        "it's",
        "\\n",
        "`",
        "a\tb",
        "🎟️🇩🇪",
        "=1+1",
        "+1",
        "-1",
        "@x",
        "a;b|c",
        "0",
    ] {
        assert_eq!(lines(text), [code(1, [text])]);
        assert_eq!(csv(text), [code(1, [text])]);
    }
    assert_eq!(lines("\"say \"\"hi\"\"\""), [code(1, ["\"say \"\"hi\"\"\""])]);
    assert_eq!(csv("\"say \"\"hi\"\"\""), [code(1, ["say \"hi\""])]);
}

#[test]
fn commas_divide_a_code_in_csv_and_are_part_of_it_in_lines() {
    assert_eq!(lines("a,b\n\"a,b\""), [code(1, ["a,b"]), code(2, ["\"a,b\""])]);
    assert_eq!(csv("a,b\n\"a,b\""), [code(1, ["a", "b"]), code(2, ["a,b"])]);
    assert_eq!(
        csv("u----p----s\nx|0|y\nu,0,s"),
        [code(1, ["u----p----s"]), code(2, ["x|0|y"]), code(3, ["u", "0", "s"])]
    );
}

#[test]
fn code_longer_than_the_limit_is_malformed_and_the_next_line_is_read() {
    let longest = "x".repeat(CODE_BYTES_MAX);
    for format in [Format::Lines, Format::Csv] {
        let rows = seen(format, &[format!("{longest}\n{longest}y\r\nB\n").as_bytes()]);
        let too_long = Seen::Malformed(2, MalformedReason::TooLong);
        assert_eq!(rows, [code(1, [longest.as_str()]), too_long, code(3, ["B"])]);
    }
    let half = "x".repeat(CODE_BYTES_MAX / 2);
    let rows = csv(format!("{half},{half}\n{longest},\n\"{longest}\"\"\"\nB"));
    assert_eq!(rows[..3], [1, 2, 3].map(|line| Seen::Malformed(line, MalformedReason::TooLong)));
    assert_eq!(rows[3], code(4, ["B"]));
}

#[test]
fn memory_does_not_grow_with_a_file_that_has_no_line_end() {
    for (format, start) in
        [(Format::Lines, "x"), (Format::Csv, "x"), (Format::Csv, "\"x"), (Format::Csv, ",")]
    {
        let chunk = vec![start.as_bytes()[0]; 1 << 20];
        let mut out = Vec::new();
        let mut parser = Parser::new(&format.into());
        parser.feed(start.as_bytes(), &mut out);
        for _ in 0..50 {
            parser.feed(&chunk, &mut out);
        }
        assert_eq!(parser.capacity(), EXPORTED_BYTES_MAX);
        parser.finish(&mut out);
        assert_eq!(out.len(), 1);
    }
}

#[test]
fn code_is_shown_joined_and_stored_apart() {
    let two = only_code(Format::Csv, "a,b");
    let one = only_code(Format::Lines, "a b");
    assert_eq!(two.text().as_str(), "a b");
    assert_eq!(one.text().as_str(), "a b");
    assert_ne!(two.canonical(), one.canonical());
    assert_eq!(two.canonical(), b"a\x1fb");
    assert_eq!(only_code(Format::Csv, "a,,b,").canonical(), b"a\x1f\x1fb\x1f");
    assert_eq!(only_code(Format::Csv, "\"a b\""), one);
    assert_eq!(one.canonical(), b"a b");
}

#[test]
fn bytes_that_are_no_code_are_refused() {
    assert_eq!(CodeText::from_canonical(Vec::new()), Err(NotCanonical));
    assert_eq!(CodeText::from_canonical(b"a\xff".to_vec()), Err(NotCanonical));
}

#[test]
fn debug_hides_the_code() {
    let rows = rows(Format::Lines, &[b"SECRET-1"]);
    assert_eq!(format!("{rows:?}"), "[Code { line: 1, code: CodeText(hidden) }]");
}

#[test]
fn reasons_state_fault_and_remedy() {
    let texts = [
        (MalformedReason::NotUtf8, "not UTF-8; save the file as UTF-8"),
        (
            MalformedReason::ControlCharacter('\0'),
            "control character U+0000; remove it, or save the file as plain UTF-8 text",
        ),
        (
            MalformedReason::TooLong,
            "longer than 4096 bytes; shorten it, or look for a lost line end or a missing closing quote",
        ),
        (MalformedReason::TooManyFields, "more than 16 fields; keep only those of the code"),
    ];
    for (reason, text) in texts {
        assert_eq!(reason.to_string(), text);
    }
}
