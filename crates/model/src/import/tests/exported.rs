//! Files that were exported, and what hands and spreadsheets do to them.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Layout, Seen, code, laid_open, read, rows, seen_as};
use crate::import::written::{EXPORTED_BYTES_MAX, write_header, write_row};
use crate::import::{CODE_BYTES_MAX, CodeText, FIELDS_MAX, Format, MalformedReason, Row};

const BATCH: &str = "01935f3e-7b1c-7000-8000-0123456789ab";

/// A code of these fields, by way of the file that a supplier would send.
fn code_of(fields: &[String]) -> Option<CodeText> {
    let quoted: Vec<String> =
        fields.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
    match rows(Format::Csv, &[quoted.join(",").as_bytes()]).pop() {
        Some(Row::Code { code, .. }) => Some(code),
        _ => None,
    }
}

fn written(codes: &[CodeText], columns: usize) -> String {
    let mut out = String::new();
    write_header(columns, &mut out);
    for code in codes {
        write_row(code, columns, ["unissued", BATCH], &mut out);
    }
    out
}

fn columns(codes: &[CodeText]) -> usize {
    codes.iter().map(|code| code.fields().count()).max().unwrap_or(1)
}

/// Each cell of each row, by a reader as simple as can be.
fn cells(file: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for char in file.trim_start_matches('\u{feff}').chars() {
        match char {
            '"' => quoted = !quoted,
            ',' | '\r' if !quoted => cells.push(String::new()),
            '\n' if !quoted => {}
            char => cells.last_mut().unwrap().push(char),
        }
    }
    cells
}

fn nasty() -> Vec<CodeText> {
    let texts =
        ["=1+1", "+1", "-1", "@x", "\tx", "0012345678901234567", "1-2", "TRUE", "'quoted'", "a,b;c|d", "🎟"];
    let two = [vec!["=A".to_owned(), "0".to_owned()], vec!["B".to_owned(), String::new()]];
    texts
        .iter()
        .map(|text| vec![(*text).to_owned()])
        .chain(two)
        .filter_map(|fields| code_of(&fields))
        .collect()
}

#[test]
fn no_cell_is_a_formula_a_number_or_a_date_to_a_spreadsheet() {
    let codes = nasty();
    assert_eq!(codes.len(), 13);
    let file = written(&codes, columns(&codes));
    assert!(
        file.starts_with("\u{feff}\"code\",\"code_2\",\"state\",\"batch\"\r\n\"'=1+1\",\"\",\"unissued\",\"")
    );
    for cell in cells(&file) {
        assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
        assert!(cell.is_empty() || !cell.chars().all(|char| char.is_ascii_digit() || char == '-'), "{cell}");
    }
    let back: Vec<CodeText> = codes_of(&file);
    assert!(back == codes);
}

fn codes_of(file: &str) -> Vec<CodeText> {
    let take = |row| match row {
        Row::Code { code, .. } => code,
        other => panic!("not a code: {other:?}"),
    };
    read(&Format::Csv.into(), &[file.as_bytes()]).0.into_iter().map(take).collect()
}

#[test]
fn it_is_read_back_after_a_spreadsheet_saved_it_with_its_own_separator_and_quotes() {
    let codes = nasty();
    let file = written(&codes, columns(&codes));
    let plain = |char: &str| file.replace("\",\"", &format!("\"{char}\"")).replace("\r\n", "\n");
    for saved in [plain(","), plain(";"), plain("\t")] {
        assert!(codes_of(&saved) == codes);
    }
    let unquoted = "code;state;batch\n'007;unissued;x\n'1.2E+17;issued;x\n;;\n";
    let (rows, found) = read(&Format::Csv.into(), &[unquoted.as_bytes()]);
    assert_eq!(laid_open(rows), [code(2, ["007"]), code(3, ["1.2E+17"]), Seen::Blank(4)]);
    assert!(found.header.is_some());
}

#[test]
fn a_cell_that_lost_its_apostrophe_is_malformed() {
    let file = "code,code_2,state,batch\n1.23457E+17,,unissued,x\n'A,B,unissued,x\n,'B,unissued,x\n'A,'B\n'A,,issued,x\n";
    let lost = MalformedReason::NoApostrophe;
    let expected = [
        Seen::Malformed(2, lost.clone()),
        Seen::Malformed(3, lost.clone()),
        Seen::Malformed(4, lost),
        Seen::Malformed(5, MalformedReason::FieldCount { fields: 2, columns: 4 }),
        code(6, ["A"]),
    ];
    assert_eq!(seen_as(&Format::Csv.into(), file), expected);
    let none = "code,state,batch\n,unissued,x\n',unissued,x\n";
    let none: Vec<Seen> = seen_as(&Format::Csv.into(), none);
    assert_eq!(none, [2, 3].map(|line| Seen::Malformed(line, MalformedReason::NoApostrophe)));
}

#[test]
fn the_longest_code_comes_back_and_one_longer_is_malformed() {
    let most = vec!["x".to_owned(); FIELDS_MAX - 1];
    let rest = CODE_BYTES_MAX - 2 * (FIELDS_MAX - 1);
    let longest = [most, vec!["\"".repeat(rest)]].concat();
    let code = code_of(&longest).unwrap();
    assert_eq!(code.canonical().len(), CODE_BYTES_MAX);
    let file = written(std::slice::from_ref(&code), FIELDS_MAX);
    assert!(codes_of(&file) == [code]);
    for length in [CODE_BYTES_MAX + 1, EXPORTED_BYTES_MAX * 2] {
        let file = format!("code,state,batch\n'{},unissued,x\n", "x".repeat(length));
        let too_long = Seen::Malformed(2, MalformedReason::TooLong);
        assert_eq!(seen_as(&Layout::from(Format::Csv), file), [too_long]);
    }
}

fn field() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        proptest::sample::select(vec![
            '\'', '"', ',', ';', '=', '-', '\t', '\r', '\n', ' ', '0', '\u{feff}', '🎟'
        ]),
        any::<char>().prop_map(|char| if char.is_control() { 'x' } else { char }),
    ];
    vec(char, 0..8).prop_map(String::from_iter)
}

proptest! {
    /// Case P101, of the bytes.
    #[test]
    fn any_codes_come_back_as_they_were_exported(records in vec(vec(field(), 1..5), 0..8), wider in 0_usize..3) {
        let codes: Vec<CodeText> = records.iter().filter_map(|fields| code_of(fields)).collect();
        let file = written(&codes, columns(&codes) + wider);
        prop_assert!(codes_of(&file) == codes, "{}", file);
    }
}
