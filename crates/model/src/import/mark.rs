//! The byte order mark a file may begin with.

const UTF_8: &[u8] = b"\xef\xbb\xbf";
const UTF_16_BE: &[u8] = b"\xfe\xff";
/// Begins the mark of UTF-32 in this order too, which is refused alike.
const UTF_16_LE: &[u8] = b"\xff\xfe";

/// What the first bytes of a file are.
pub(super) enum Mark {
    /// The beginning of a mark; more bytes are needed.
    Undecided,
    None,
    Utf8,
    Utf16,
}

/// Judges the first bytes of a file.
pub(super) fn of(head: &[u8]) -> Mark {
    match head {
        UTF_8 => Mark::Utf8,
        UTF_16_BE | UTF_16_LE => Mark::Utf16,
        _ if [UTF_8, UTF_16_BE, UTF_16_LE].iter().any(|mark| mark.starts_with(head)) => Mark::Undecided,
        _ => Mark::None,
    }
}
