//! The first row: a header that is known, one that is not, or a code; and what it says of the rows below.

use super::{Layout, Seen, code, laid_open, read, seen_as};
use crate::import::{Format, Found, MalformedReason, Separator};

fn csv() -> Layout {
    Format::Csv.into()
}

fn divided(separator: Separator) -> Layout {
    Layout { separator: Some(separator), ..csv() }
}

fn header(file: &str) -> Option<(Separator, Vec<String>)> {
    let (_, Found { header, .. }) = read(&csv(), &[file.as_bytes()]);
    header
}

/// The reason why the file is refused for its first row, in words.
fn refusal(layout: &Layout, file: &str) -> String {
    match seen_as(layout, file).as_slice() {
        [Seen::Malformed(1, reason)] if reason.is_of_file() => reason.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_known_header_is_no_code_and_says_what_stands_between_fields() {
    for separator in Separator::ALL {
        let s = separator.as_str();
        let file = format!("\u{feff}\r\n卡号{s} 密码 \r\n0012345678901234567{s}0\r\n\r\n=A{s}, ; |\r\n");
        let rows = seen_as(&csv(), file.replace(", ; |", "😀"));
        let expected =
            [Seen::Blank(1), code(3, ["0012345678901234567", "0"]), Seen::Blank(4), code(5, ["=A", "😀"])];
        assert_eq!(rows, expected, "{separator:?}");
        assert_eq!(header(&file), Some((separator, vec!["卡号".to_owned(), "密码".to_owned()])));
    }
    for one in ["code", "CODE\n", "\"Card Number\"", "卡密", "card_no\r", "兌換碼"] {
        assert_eq!(seen_as(&csv(), one), [], "{one}");
        let rows = seen_as(&csv(), format!("{}\nA1----B2\n", one.trim()));
        assert_eq!(rows, [code(2, ["A1----B2"])], "{one}");
    }
    assert_eq!(seen_as(&csv(), ",,\ncode,pin\nA,1"), [Seen::Blank(1), code(3, ["A", "1"])]);
    assert_eq!(seen_as(&csv(), ";;\r\ncode;pin\r\nA;1"), [Seen::Blank(1), code(3, ["A", "1"])]);
}

/// Case P100: a number was taken for a quantity.
#[test]
fn an_unknown_header_is_refused_by_name_with_those_that_are_known() {
    for (file, named) in [
        ("number,quantity\nA1,2\n", "`number`, `quantity`"),
        ("Column1;Column2\nA1;2\n", "`Column1`, `Column2`"),
        ("code,remark\nA1,x\n", "`remark`"),
        ("卡号----备注\nA1----x\n", "`备注`"),
        ("面额\t说明\nA1\tx\n", "`面额`, `说明`"),
        ("abc\nA1\n", "`abc`"),
        ("code 1,code 2\nA,B\n", "`code 1`, `code 2`"),
    ] {
        let reason = refusal(&csv(), file);
        assert!(reason.contains(named), "{file:?}: {reason}");
        for known in ["code", "pin", "password", "卡号", "卡密", "密码", "--no-header"] {
            assert!(reason.contains(known), "{reason}");
        }
    }
}

#[test]
fn a_first_row_with_a_number_in_it_is_a_code_and_any_is_if_there_is_no_header() {
    assert_eq!(seen_as(&csv(), "A1,2\nB,3"), [code(1, ["A1", "2"]), code(2, ["B", "3"])]);
    assert_eq!(seen_as(&csv(), "u1----p----s\n"), [code(1, ["u1----p----s"])], "a comma is nowhere in it");
    assert_eq!(seen_as(&csv(), "\"a\nb\",1\n"), [code(1, ["a\nb", "1"])]);
    let without = Layout { no_header: true, ..csv() };
    assert_eq!(seen_as(&without, "code,pin\na,b"), [code(1, ["code", "pin"]), code(2, ["a", "b"])]);
    let long = format!("{}\nB1", "x".repeat(5_000));
    assert_eq!(seen_as(&csv(), long), [Seen::Malformed(1, MalformedReason::TooLong), code(2, ["B1"])]);
    let lines = Layout { no_header: false, ..Format::Lines.into() };
    assert_eq!(seen_as(&lines, "code\nA"), [code(1, ["code"]), code(2, ["A"])]);
}

#[test]
fn rows_have_as_many_fields_as_the_header() {
    let count = |fields| MalformedReason::FieldCount { fields, columns: 2 };
    let rows = seen_as(&csv(), "code,pin\nA,1\nB\nC,1,2\n,,\n\"D,1\",2\n");
    let expected = [
        code(2, ["A", "1"]),
        Seen::Malformed(3, count(1)),
        Seen::Malformed(4, count(3)),
        Seen::Blank(5),
        code(6, ["D,1", "2"]),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn each_separator_divides_and_is_text_beside_the_others() {
    let all = "1,2;3|4\t5----6";
    for separator in Separator::ALL {
        let fields: Vec<String> = all.split(separator.as_str()).map(str::to_owned).collect();
        assert_eq!(seen_as(&divided(separator), all), [Seen::Code(1, fields)]);
        assert_eq!(separator.as_str().parse(), Ok(separator));
    }
    assert_eq!("tab".parse(), Ok(Separator::Tab));
    assert!("---".parse::<Separator>().is_err());
    assert_eq!(seen_as(&divided(Separator::Semicolon), "\"1;2\";\"3\"\"\""), [code(1, ["1;2", "3\""])]);
}

#[test]
fn four_dashes_divide_fewer_are_text_and_more_may_mean_anything() {
    let dashes = divided(Separator::Dashes);
    let file = "u1----p---q----s\nA-1----\"B\"\n1--------2\n----1\n1----\n--2--\n1-----2\nZ1";
    let expected = [
        code(1, ["u1", "p---q", "s"]),
        code(2, ["A-1", "\"B\""]),
        code(3, ["1", "", "2"]),
        code(4, ["", "1"]),
        code(5, ["1", ""]),
        code(6, ["--2--"]),
        Seen::Malformed(7, MalformedReason::AmbiguousDashes),
        code(8, ["Z1"]),
    ];
    assert_eq!(seen_as(&dashes, file), expected);
    let bytes: Vec<&[u8]> = file.as_bytes().chunks(1).collect();
    assert_eq!(laid_open(read(&dashes, &bytes).0), expected);
    assert_eq!(seen_as(&dashes, "A1\n----\n--------"), [code(1, ["A1"]), Seen::Blank(2), Seen::Blank(3)]);
}

/// What a spreadsheet did to a number of 18 digits, and what it did not.
#[test]
fn numbers_that_a_spreadsheet_shortened_are_malformed_unless_taken_as_they_are() {
    for shortened in ["1.2E+17", "1.23457E+17", "1E+18", "9.99e+99", "1.0E+100"] {
        let file = format!("{shortened}\nX1,{shortened}\n");
        let bad = [1, 2].map(|line| Seen::Malformed(line, MalformedReason::Shortened));
        assert_eq!(seen_as(&csv(), &file), bad, "{shortened}");
        assert_eq!(seen_as(&Format::Lines.into(), shortened), bad[..1], "{shortened}");
        let as_is = Layout { as_is: true, ..csv() };
        assert_eq!(seen_as(&as_is, &file), [code(1, [shortened]), code(2, ["X1", shortened])]);
    }
    for whole in [
        "123456789012345678",
        "000123",
        "1E17",
        "12.3E+17",
        "1.2E+1",
        "A1.2E+17",
        "1.2E+17X",
        "1.E+17",
        "E+17",
    ] {
        assert_eq!(seen_as(&csv(), format!("{whole}\n1")), [code(1, [whole]), code(2, ["1"])], "{whole}");
    }
    let replaced = Seen::Malformed(1, MalformedReason::Replaced);
    assert_eq!(seen_as(&Format::Lines.into(), "caf\u{fffd}"), [replaced]);
}
