//! What the bytes of a file stand for: told by its first bytes or by its text, said by the caller, or refused.

use super::{Layout, Seen, code, laid_open, read, seen_as};
use crate::import::input::SAMPLE_BYTES;
use crate::import::{Encoding, Format, MalformedReason};

/// Files of suppliers in China: codes between words.
const CHINESE: &str = "卡号：0012345678901234567 密码：%&<>\"'\r\n面值100元，有效期至2027年 🎟\r\n";

fn detected() -> Layout {
    Format::Lines.into()
}

fn said(encoding: Encoding) -> Layout {
    Layout { encoding: Some(encoding), ..detected() }
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

fn gb18030(text: &str) -> Vec<u8> {
    encoding_rs::GB18030.encode(text).0.into_owned()
}

/// The bytes of a text in another encoding.
fn encoded(label: &str, text: &str) -> Vec<u8> {
    let (bytes, _, lossy) = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(text);
    assert!(!lossy, "{label} has no {text}");
    bytes.into_owned()
}

/// The one reason why a file is refused.
fn refusal(layout: &Layout, file: &[u8]) -> MalformedReason {
    match seen_as(layout, file).as_slice() {
        [Seen::Malformed(1, reason)] => reason.clone(),
        other => panic!("not one refusal: {other:?}"),
    }
}

/// Case P95, of the case files: never one character that was not written.
#[test]
fn a_chinese_file_is_read_the_same_in_every_encoding() {
    let expected: Vec<Seen> = CHINESE.lines().zip(1..).map(|(text, line)| code(line, [text])).collect();
    let files = [
        (CHINESE.as_bytes().to_vec(), Encoding::Utf8),
        (format!("\u{feff}{CHINESE}").into_bytes(), Encoding::Utf8),
        (gb18030(CHINESE), Encoding::Gb18030),
        (utf_16(&format!("\u{feff}{CHINESE}"), u16::to_le_bytes), Encoding::Utf16Le),
        (utf_16(&format!("\u{feff}{CHINESE}"), u16::to_be_bytes), Encoding::Utf16Be),
    ];
    for (file, encoding) in files {
        let (rows, found) = read(&detected(), &[&file]);
        assert_eq!((found.encoding, laid_open(rows)), (Some(encoding), expected.clone()));
        assert_eq!(seen_as(&said(encoding), &file), expected);
        let bytes: Vec<&[u8]> = file.chunks(1).collect();
        assert_eq!(laid_open(read(&detected(), &bytes).0), expected, "byte by byte, {encoding:?}");
    }
}

#[test]
fn utf_16_without_a_mark_is_told_by_its_nuls() {
    let text = "AB-0001\r\nAB-0002 卡\r\n";
    let expected = [code(1, ["AB-0001"]), code(2, ["AB-0002 卡"])];
    assert_eq!(seen_as(&detected(), utf_16(text, u16::to_le_bytes)), expected);
    assert_eq!(seen_as(&detected(), utf_16(text, u16::to_be_bytes)), expected);
    // NULs here and there are no pattern, but faults.
    let nul = MalformedReason::ControlCharacter('\0');
    for file in ["AB\0\nCD\0\n", "A\0\nB\0\n", "ABCDEF\0\nABCDEG\0\n"] {
        let two = [Seen::Malformed(1, nul.clone()), Seen::Malformed(2, nul.clone())];
        assert_eq!(seen_as(&detected(), file), two, "{file:?}");
    }
}

#[test]
fn ascii_for_megabytes_before_the_first_chinese_line_changes_nothing() {
    let ascii: String = (0..40_000)
        .flat_map(|n| ["CODE-".to_owned(), format!("{n:012}"), "-ABCDEFGH\r\n".to_owned()])
        .collect();
    let file = [ascii.into_bytes(), gb18030(CHINESE)].concat();
    assert!(file.len() > 1 << 20);
    let (rows, found) = read(&detected(), &file.chunks(4_099).collect::<Vec<_>>());
    assert_eq!(found.encoding, Some(Encoding::Gb18030));
    let last = laid_open(rows).split_off(40_000);
    assert_eq!(last, CHINESE.lines().zip(40_001..).map(|(text, n)| code(n, [text])).collect::<Vec<_>>());
}

#[test]
fn a_byte_beyond_the_sample_is_a_fault_of_its_line_and_the_encoding_is_never_changed() {
    let many = CHINESE.repeat(SAMPLE_BYTES / CHINESE.len() * 2);
    let lines = u64::try_from(many.lines().count()).unwrap();
    let utf_8 = [many.as_bytes(), &gb18030("密码"), b"\r\nX\r\n"].concat();
    let rows = seen_as(&detected(), utf_8).split_off(many.lines().count());
    assert_eq!(rows, [Seen::Malformed(lines + 1, MalformedReason::NotUtf8), code(lines + 2, ["X"])]);
    let gb = [&gb18030(&many), "密码\u{e000}".as_bytes(), b"\xff\r\nX\r\n"].concat();
    let rows = seen_as(&detected(), gb).split_off(many.lines().count());
    let fault = MalformedReason::Undecodable(Encoding::Gb18030);
    assert_eq!(rows, [Seen::Malformed(lines + 1, fault), code(lines + 2, ["X"])]);
}

/// Every one of these decodes as GB 18030 without a fault, or nearly so.
#[test]
fn other_encodings_are_refused_and_not_taken_for_chinese() {
    let others = [
        ("big5", "卡號：A1 密碼：B2 面額100元，有效期限至2027年"),
        ("big5", "卡號,密碼"),
        ("euc-kr", "카드번호 A1 비밀번호 B2 유효기간"),
        ("euc-jp", "カード番号 A1 暗証番号 B2 有効期限"),
        ("shift_jis", "カード番号 A1 暗証番号 B2 有効期限"),
        ("windows-1251", "номер карты A1 пароль B2"),
        ("windows-1252", "numéro A1 clé B2 déjà prévu"),
    ];
    for (label, text) in others {
        let reason = refusal(&detected(), &encoded(label, text));
        assert_eq!(reason, MalformedReason::UndetectedEncoding, "{label}");
        assert!(reason.is_of_file() && reason.to_string().contains("--encoding"));
    }
}

#[test]
fn text_that_is_good_in_two_encodings_is_refused_until_one_is_said() {
    // Chinese whose bytes are letters of other scripts in UTF-8.
    let file = [gb18030("学员系统"), b"\r\n".to_vec()].concat();
    assert!(std::str::from_utf8(&file).is_ok());
    assert_eq!(refusal(&detected(), &file), MalformedReason::TwoEncodings);
    assert_eq!(seen_as(&said(Encoding::Gb18030), &file), [code(1, ["学员系统"])]);
    assert_ne!(seen_as(&said(Encoding::Utf8), &file), [code(1, ["学员系统"])]);
}

#[test]
fn utf_8_in_other_scripts_is_utf_8() {
    for text in
        ["卡密：ABC", "卡號：A1 密碼：B2", "카드번호 A1", "カード番号", "номер карты", "clé déjà vue", "🎟"]
    {
        let (rows, found) = read(&detected(), &[text.as_bytes()]);
        assert_eq!((found.encoding, laid_open(rows)), (Some(Encoding::Utf8), vec![code(1, [text])]));
    }
    assert_eq!(read(&detected(), &[b"ASCII"]).1.encoding, None);
}

#[test]
fn what_is_said_is_believed_strictly() {
    let file = gb18030("密码 1\r\nA\r\n");
    let not = Seen::Malformed(1, MalformedReason::NotUtf8);
    assert_eq!(seen_as(&said(Encoding::Utf8), &file), [not, code(2, ["A"])]);
    // Too little to be told, and enough when it is said.
    assert_eq!(refusal(&detected(), &gb18030("龘")), MalformedReason::UndetectedEncoding);
    assert_eq!(seen_as(&said(Encoding::Gb18030), gb18030("龘🎟")), [code(1, ["龘🎟"])]);
    let marked = b"\xef\xbb\xbfA\n";
    let other = MalformedReason::OtherMark(Encoding::Utf8);
    assert_eq!(refusal(&said(Encoding::Gb18030), marked), other);
    assert_eq!(refusal(&detected(), b"\xff\xfe\0\0A\0\0\0"), MalformedReason::Utf32);
}

#[test]
fn characters_cut_in_half_are_faults_of_their_lines() {
    let lone =
        [utf_16("\u{feff}A\r\n", u16::to_le_bytes), vec![0x00, 0xd8], utf_16("\r\nB", u16::to_le_bytes)]
            .concat();
    let fault = MalformedReason::Undecodable(Encoding::Utf16Le);
    assert_eq!(
        seen_as(&detected(), lone),
        [code(1, ["A"]), Seen::Malformed(2, fault.clone()), code(3, ["B"])]
    );
    let odd = [utf_16("\u{feff}A\r\nB", u16::to_le_bytes), vec![0x41]].concat();
    assert_eq!(seen_as(&detected(), odd), [code(1, ["A"]), Seen::Malformed(2, fault)]);
    let cut = [gb18030("密码："), vec![0xc3]].concat();
    let fault = MalformedReason::Undecodable(Encoding::Gb18030);
    assert_eq!(refusal(&said(Encoding::Gb18030), &cut), fault);
}

#[test]
fn encodings_are_said_by_name() {
    for encoding in Encoding::ALL {
        assert_eq!(encoding.as_str().parse(), Ok(encoding));
    }
    assert_eq!("GBK".parse(), Ok(Encoding::Gb18030));
    assert!("latin1".parse::<Encoding>().unwrap_err().to_string().contains("gb18030"));
}
