//! Quotes, commas and empty fields.

use super::{Seen, code, csv, seen};
use crate::import::{CODE_BYTES_MAX, FIELDS_MAX, Format, MalformedReason};

#[test]
fn character_cut_by_a_comma_is_not_utf_8() {
    assert_eq!(csv(b"\xe2,\x82\xac"), [Seen::Malformed(1, MalformedReason::UndetectedEncoding)]);
}

#[test]
fn empty_fields_are_kept_beside_one_that_is_not() {
    assert_eq!(
        csv("A,,\n,B\n\"\",C,\"\"\n"),
        [code(1, ["A", "", ""]), code(2, ["", "B"]), code(3, ["", "C", ""])]
    );
    assert_eq!(csv(",,\n\"\"\n\" \",\u{3000},\n,"), [1, 2, 3, 4].map(Seen::Blank));
    assert_eq!(csv(",".repeat(FIELDS_MAX + 4)), [Seen::Blank(1)]);
}

#[test]
fn quoted_line_ends_belong_to_the_field_and_are_counted() {
    let file = b"\"a\r\nb\rc\n\nd\",1\r\nE\n";
    let expected = [code(1, ["a\r\nb\rc\n\nd", "1"]), code(6, ["E"])];
    assert_eq!(csv(file), expected);
    assert_eq!(seen(Format::Csv, &[b"\"a\r", b"\nb\rc\n", b"\nd\",1\r", b"\nE\n"]), expected);
}

#[test]
fn misplaced_quotes_are_malformed_and_the_next_line_is_read() {
    let (stray, text) = (MalformedReason::StrayQuote, MalformedReason::TextAfterQuote);
    for (line, reason) in
        [("a\"b", &stray), (" \"a\"", &stray), ("x,a\"", &stray), ("\"a\"b", &text), ("\"a\" ,c", &text)]
    {
        let file = format!("{line},\"\r\n\"B\"");
        assert_eq!(csv(file), [Seen::Malformed(1, reason.clone()), code(2, ["B"])], "{line}");
    }
}

#[test]
fn unclosed_quote_is_told_with_the_line_it_starts_on() {
    let unclosed = MalformedReason::UnclosedQuote;
    for open in ["\"", "\"B\nC\n", "B,\"C\n", "\"B\"\""] {
        assert_eq!(csv(format!("A\n{open}")), [code(1, ["A"]), Seen::Malformed(2, unclosed.clone())]);
    }
}

#[test]
fn unclosed_quote_does_not_swallow_a_long_file() {
    let tail = "C\n".repeat(CODE_BYTES_MAX);
    let rows = csv(format!("A\n\"B\n{tail}"));
    assert_eq!(rows[1], Seen::Malformed(2, MalformedReason::TooLong));
    assert_eq!(rows.last(), Some(&code(u64::try_from(CODE_BYTES_MAX).unwrap() + 2, ["C"])));
}

#[test]
fn line_end_that_is_one_byte_too_many_skips_no_line() {
    for room in [0, 1] {
        let text = "x".repeat(CODE_BYTES_MAX - room);
        let rows = csv(format!("\"{text}\r\nB\nC"));
        assert_eq!(rows, [Seen::Malformed(1, MalformedReason::TooLong), code(2, ["B"]), code(3, ["C"])]);
    }
}

#[test]
fn more_fields_than_the_limit_are_malformed() {
    let most = vec!["x"; FIELDS_MAX].join(",");
    let rows = csv(format!("{most}\n{most},x\n{most},\nB"));
    assert!(matches!(&rows[0], Seen::Code(1, fields) if fields.len() == FIELDS_MAX));
    let too_many = MalformedReason::TooManyFields;
    assert_eq!(
        rows[1..],
        [Seen::Malformed(2, too_many.clone()), Seen::Malformed(3, too_many), code(4, ["B"])]
    );
}
