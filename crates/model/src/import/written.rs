//! Codes written so that a spreadsheet neither runs nor changes them, and that an import reads back as they were.
//!
//! ```text
//! "code","code_2","state","batch"
//! "'0012345678901234567","'=1+1","unissued","0193…"
//! "'only one field","","unissued","0193…"
//! ```
//!
//! Every field of a code is a cell that begins with an apostrophe, which belongs to no code. A cell that begins so is
//! text to every spreadsheet: it is no formula, no number that loses digits or zeros, and no date. What the
//! apostrophe protects it also tells apart: a cell without one is a field that the code does not have. A header of
//! exactly these names makes an import take the apostrophes away again.

use zeroize::Zeroizing;

use super::code::SEPARATOR;
use super::{CODE_BYTES_MAX, CodeText, MalformedReason};

/// The columns beside those of the code.
pub(super) const BESIDE: [&str; 2] = ["state", "batch"];

/// Bytes of a record that is read back: those of the code, of its apostrophes and of the columns beside it.
pub(super) const EXPORTED_BYTES_MAX: usize = CODE_BYTES_MAX + 256;

/// Tells spreadsheets UTF-8 from what they would take the file for.
const MARK: char = '\u{feff}';

/// Begins every field of a code.
const APOSTROPHE: char = '\'';

/// The name of a code's column, counted from 0.
pub(super) fn column_name(column: usize) -> String {
    if column == 0 { "code".to_owned() } else { format!("code_{}", column + 1) }
}

/// Begins a file of codes of at most `columns` fields.
pub fn write_header(columns: usize, out: &mut String) {
    out.push(MARK);
    let names = (0..columns).map(column_name).chain(BESIDE.map(str::to_owned));
    end_row(names, out);
}

/// Adds a code of at most `columns` fields.
pub fn write_row(code: &CodeText, columns: usize, beside: [&str; 2], out: &mut String) {
    let mut fields = code.fields();
    for _ in 0..columns {
        out.push('"');
        if let Some(field) = fields.next() {
            out.push(APOSTROPHE);
            quote(field, out);
        }
        out.push_str("\",");
    }
    end_row(beside.into_iter().map(str::to_owned), out);
}

/// Adds the last cells of a row.
fn end_row(cells: impl Iterator<Item = String>, out: &mut String) {
    for cell in cells {
        out.push('"');
        quote(&cell, out);
        out.push_str("\",");
    }
    // The comma after the last cell.
    out.pop();
    out.push_str("\r\n");
}

fn quote(text: &str, out: &mut String) {
    for char in text.chars() {
        if char == '"' {
            out.push(char);
        }
        out.push(char);
    }
}

/// The code of a row that was written with so many columns for it; none if it has no text.
pub(super) fn read_row(joined: &str, columns: usize) -> Result<CodeText, MalformedReason> {
    let cells: Vec<&str> = joined.split(char::from(SEPARATOR)).collect();
    if cells.len() != columns + BESIDE.len() {
        return Err(MalformedReason::FieldCount { fields: cells.len(), columns: columns + BESIDE.len() });
    }
    let has = cells.iter().take(columns).rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
    let mut code = Zeroizing::new(String::with_capacity(joined.len()));
    for (column, cell) in cells.iter().take(has).enumerate() {
        if column > 0 {
            code.push(char::from(SEPARATOR));
        }
        code.push_str(cell.strip_prefix(APOSTROPHE).ok_or(MalformedReason::NoApostrophe)?);
    }
    if code.len() > CODE_BYTES_MAX {
        return Err(MalformedReason::TooLong);
    }
    match code.chars().all(|char| char.is_whitespace() || char == char::from(SEPARATOR)) {
        true => Err(MalformedReason::NoApostrophe),
        false => Ok(CodeText::of_wiped(code)),
    }
}
