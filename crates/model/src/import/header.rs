//! The first row of a file of `csv`: a header, a code, or neither for certain.

use super::written::{BESIDE, column_name};
use super::{FIELDS_MAX, MalformedReason, Separator};

/// Names that columns of codes have, as [`folded`] leaves them: in the order they are told.
const NAMES: [&str; 50] = [
    "code",
    "codes",
    "card",
    "cardno",
    "cardnumber",
    "cardcode",
    "pin",
    "password",
    "pass",
    "pwd",
    "secret",
    "key",
    "cdkey",
    "licensekey",
    "serial",
    "serialnumber",
    "sn",
    "voucher",
    "coupon",
    "token",
    "activationcode",
    "redeemcode",
    "account",
    "username",
    "user",
    "email",
    "link",
    "url",
    "卡号",
    "卡密",
    "密码",
    "卡密码",
    "账号",
    "帐号",
    "账户",
    "用户名",
    "邮箱",
    "序列号",
    "兑换码",
    "激活码",
    "充值码",
    "券码",
    "密钥",
    "链接",
    "卡號",
    "密碼",
    "帳號",
    "序號",
    "兌換碼",
    "啟用碼",
];

/// Names that tools number columns by; a row of them is a header too, and says nothing.
const NUMBERED: [&str; 5] = ["column", "col", "field", "列", "字段"];

/// Names of a header that a refusal tells, and characters of each.
const TOLD_MAX: (usize, usize) = (8, 40);

/// How the rows below a header are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// There is none: any number of fields.
    Any,
    /// As many fields as it has names, all of them of the code.
    Columns(usize),
    /// A file that was exported, whose code has at most so many fields; see [`super::written`].
    Exported(usize),
}

/// What the first row is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First {
    Header {
        separator: Separator,
        shape: Shape,
        names: Vec<String>,
    },
    /// A header that does not say which columns are the code.
    Unknown(MalformedReason),
    Code,
}

/// The names of columns that are known.
pub(super) fn known_names() -> String {
    NAMES.join(", ")
}

/// Judges the first row, which is not blank, by what stands between its fields or may.
///
/// It is a header if every field is a known name. If only some are, or none of it is a number, it may be one that
/// is not known: the file is refused, for a header must not be sold, nor a code be lost as one.
pub(super) fn judge(line: &str, said: Option<Separator>) -> First {
    // A record that goes on in the next line is no header.
    if line.matches('"').count() % 2 == 1 {
        return First::Code;
    }
    let separators = said.map_or(Separator::ALL.to_vec(), |one| vec![one]);
    let rows: Vec<(Separator, Vec<String>)> =
        separators.iter().map(|separator| (*separator, split(line, *separator))).collect();
    let whole = said.unwrap_or(Separator::Comma);
    let fits = |separator: Separator, names: &[String]| names.len() > 1 || separator == whole;
    for (separator, names) in &rows {
        if let Some(shape) = shape(names).filter(|_| fits(*separator, names)) {
            return First::Header { separator: *separator, shape, names: names.clone() };
        }
    }
    let some_known = |names: &[String]| names.len() > 1 && names.iter().any(|name| is_known(name));
    if let Some((_, names)) = rows.iter().find(|(_, names)| some_known(names)) {
        let unknown = names.iter().filter(|name| !is_known(name));
        return First::Unknown(MalformedReason::UnknownColumns(told(unknown)));
    }
    let longest = rows.iter().rev().max_by_key(|(_, names)| names.len());
    match longest {
        Some((_, names))
            if !line.contains(char::is_numeric) || names.iter().all(|name| is_numbered(name)) =>
        {
            First::Unknown(MalformedReason::UnknownHeader(told(names.iter())))
        }
        _ => First::Code,
    }
}

fn shape(names: &[String]) -> Option<Shape> {
    if let Some(columns) =
        names.len().checked_sub(BESIDE.len()).filter(|columns| (1..=FIELDS_MAX).contains(columns))
    {
        let expected = (0..columns).map(column_name).chain(BESIDE.map(str::to_owned));
        if expected.eq(names.iter().cloned()) {
            return Some(Shape::Exported(columns));
        }
    }
    let known = names.len() <= FIELDS_MAX && names.iter().all(|name| is_known(name));
    known.then_some(Shape::Columns(names.len()))
}

/// The names of a header, without the white space and the quotes around them.
fn split(line: &str, separator: Separator) -> Vec<String> {
    let unquoted = |name: &str| {
        let name = name.trim();
        name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name).trim().to_owned()
    };
    line.split(separator.as_str()).map(unquoted).collect()
}

fn is_known(name: &str) -> bool {
    NAMES.contains(&folded(name).as_str())
}

fn is_numbered(name: &str) -> bool {
    let name = folded(name);
    let word = name.trim_end_matches(|char: char| char.is_ascii_digit());
    word != name && (NAMES.contains(&word) || NUMBERED.contains(&word))
}

/// A name in lower case, without what stands between its words.
fn folded(name: &str) -> String {
    name.chars().filter(|char| !matches!(char, ' ' | '_' | '-' | '.')).flat_map(char::to_lowercase).collect()
}

/// Names in back quotes; not all of them, nor the whole of each, when there is too much of it.
fn told<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names = names.map(|name| {
        let plain = name.chars().filter(|char| !char.is_control()).take(TOLD_MAX.1);
        format!("`{}`", plain.collect::<String>())
    });
    names.take(TOLD_MAX.0).collect::<Vec<_>>().join(", ")
}
