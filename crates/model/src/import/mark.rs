//! What the first bytes of a file say of its encoding.

use super::Encoding;

/// Bytes looked at for a pattern of NULs, or the whole file if it is shorter.
pub(super) const HEAD_BYTES: usize = 1_024;

/// Characters of Latin script that UTF-16 without a mark has at least; a stray NUL is none.
const NULS_MIN: usize = 2;

/// Longer marks before those they begin with.
const MARKS: [(&[u8], Mark); 5] = [
    (b"\xff\xfe\0\0", Mark::Utf32),
    (b"\0\0\xfe\xff", Mark::Utf32),
    (b"\xef\xbb\xbf", Mark::Of(Encoding::Utf8)),
    (b"\xff\xfe", Mark::Of(Encoding::Utf16Le)),
    (b"\xfe\xff", Mark::Of(Encoding::Utf16Be)),
];

/// The byte order mark a file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Of(Encoding),
    /// Of UTF-32, which is not read.
    Utf32,
}

/// The mark at the start of a file, and the bytes after it.
pub(super) fn split(head: &[u8]) -> (Option<Mark>, &[u8]) {
    let found = MARKS.into_iter().find_map(|(mark, of)| Some((of, head.strip_prefix(mark)?)));
    found.map_or((None, head), |(of, rest)| (Some(of), rest))
}

/// UTF-16 that has no mark, if it is unmistakable: at least three quarters of its units have a NUL in the high byte,
/// and none in the low one. No text in another encoding looks so, for in those a NUL is a fault.
pub(super) fn utf_16(head: &[u8]) -> Option<Encoding> {
    let (units, _) = head.as_chunks::<2>();
    let first = units.iter().filter(|unit| unit[0] == 0).count();
    let second = units.iter().filter(|unit| unit[1] == 0).count();
    let most = |nuls: usize| nuls >= NULS_MIN && nuls * 4 >= units.len() * 3;
    match (first, second) {
        (0, high) if most(high) => Some(Encoding::Utf16Le),
        (high, 0) if most(high) => Some(Encoding::Utf16Be),
        _ => None,
    }
}
