//! What issuers have seen of their store, a file each: `issuer-QUEUE.NUMBER.copy` in the data folder.

use std::path::Path;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use tessera_issuer::{Copy, Seen};
use tessera_model::ids::BatchId;

/// How often a file is read that is not whole: whoever writes it is through in a moment.
const READS_MAX: usize = 5;

/// Digits of the sum in front.
const SUM: usize = 16;

/// `SUM GENERATION SETS MARKS`, 16 and 32 digits of hex and two numbers; then as many marks, `BATCH UPTO` a line. What
/// follows them is left of a longer text. Others read while it is written: the sum tells.
pub(super) fn seen_of(text: &str) -> Option<Seen> {
    let (told, text) = text.split_once(' ')?;
    let mut words = text.lines().next()?.split(' ');
    let generation = HEXLOWER.decode(words.next()?.as_bytes()).ok()?.try_into().ok()?;
    let sets = words.next()?.parse().ok()?;
    let count: usize = words.next()?.parse().ok()?;
    let whole: String = text.split_inclusive('\n').take(count.checked_add(1)?).collect();
    if told != sum(&whole) {
        return None;
    }
    let mark = |line: &str| {
        let (batch, upto) = line.split_once(' ')?;
        Some((BatchId::parse(batch)?, upto.parse().ok()?))
    };
    let marks: Vec<_> = whole.lines().skip(1).map(mark).collect::<Option<_>>()?;
    (marks.len() == count).then(|| Seen::of(Copy { generation, sets }, &marks))
}

pub(super) fn text_of(seen: &Seen) -> String {
    let Copy { generation, sets } = seen.copy;
    let first = format!("{} {sets} {}\n", HEXLOWER.encode(&generation), seen.marks().len());
    let marks = seen.marks().iter().map(|(batch, upto)| format!("{batch} {upto}\n"));
    let text: String = [first].into_iter().chain(marks).collect();
    format!("{} {text}", sum(&text))
}

fn sum(text: &str) -> String {
    let mut digits = HEXLOWER.encode(&Sha256::digest(text.as_bytes()));
    digits.truncate(SUM);
    digits
}

/// What the issuers of a folder have seen, whether or not they run.
pub(crate) fn seen(data_dir: &Path) -> Vec<Seen> {
    let Ok(entries) = std::fs::read_dir(data_dir) else { return vec![] };
    let is_note = |path: &Path| {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("issuer-") && path.extension().is_some_and(|end| end == "copy")
    };
    let notes = entries.flatten().map(|entry| entry.path()).filter(|path| is_note(path));
    notes
        .filter_map(|path| (0..READS_MAX).find_map(|_| seen_of(&std::fs::read_to_string(&path).ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::time::Timestamp;

    fn batch(n: u8) -> BatchId {
        BatchId::new(Timestamp::from_micros(1), [n; 10])
    }

    #[test]
    fn a_note_that_is_not_whole_says_nothing() {
        let copy = Copy { generation: [7; 16], sets: 12 };
        let long = Seen::of(copy, &[(batch(1), 30), (batch(2), 4)]);
        let short = Seen::of(copy, &[(batch(2), 9)]);
        let (one, other) = (text_of(&long), text_of(&short));
        assert_eq!((seen_of(&one), seen_of(&other)), (Some(long), Some(short.clone())));
        assert_eq!(seen_of(&format!("{other}{}", &one[other.len()..])), Some(short), "left of a longer one");
        for at in 0..one.len() {
            assert_eq!(seen_of(&one[..at]), None, "cut off at {at}");
            let mixed = format!("{}{}", &other[..at.min(other.len())], &one[at.min(other.len())..]);
            assert!(
                at == 0 || at >= other.len() || seen_of(&mixed).is_none_or(|seen| text_of(&seen) == one),
                "{at}"
            );
        }
    }

    #[test]
    fn other_files_of_the_folder_are_no_notes() {
        let folder = tempfile::tempdir().unwrap();
        let text = text_of(&Seen::of(Copy { generation: [7; 16], sets: 1 }, &[]));
        for name in ["tessera.db.copy", "issuer-0.0.note", "issuer-0.0.copy"] {
            std::fs::write(folder.path().join(name), &text).unwrap();
        }
        assert_eq!(seen(folder.path()).len(), 1);
    }
}
