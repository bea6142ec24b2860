//! The issuer's note of the set in hand: one file in the data folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use data_encoding::HEXLOWER;
use tessera_issuer::{Copy, SetNote};
use tessera_model::ids::OrderId;

/// The most issuers of one queue in one folder.
const NOTES_MAX: u8 = 16;

/// A note in a file: an id a line. Not synced: it has to outlive the process, not the machine.
pub(crate) struct FileNote {
    orders: File,
    /// Beside it, which copy of the data it worked with last.
    copy: File,
}

/// A file that is made if it is not there.
fn opened(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

fn replace(file: &mut File, text: &str) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())?;
    file.set_len(u64::try_from(text.len()).unwrap_or(0))
}

fn read(file: &mut File) -> std::io::Result<String> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// `GENERATION SETS`: 32 digits of hex and a number.
fn copy_of(text: &str) -> Option<Copy> {
    let (generation, sets) = text.trim_end().split_once(' ')?;
    let generation = HEXLOWER.decode(generation.as_bytes()).ok()?.try_into().ok()?;
    Some(Copy { generation, sets: sets.parse().ok()? })
}

/// What the issuers of a folder worked with last, whether or not they run.
pub(crate) fn copies(data_dir: &Path) -> Vec<Copy> {
    let Ok(entries) = std::fs::read_dir(data_dir) else { return vec![] };
    let notes = entries.flatten().map(|entry| entry.path());
    let notes = notes.filter(|path| path.extension().is_some_and(|end| end == "copy"));
    notes.filter_map(|path| copy_of(&std::fs::read_to_string(path).ok()?)).collect()
}

impl FileNote {
    /// Opens the note of an issuer queue: the first in the folder that no other process has open.
    pub(crate) fn open(data_dir: &Path, partition: u16) -> std::io::Result<Self> {
        for number in 0..NOTES_MAX {
            let path = data_dir.join(format!("issuer-{partition}.{number}.note"));
            let file = opened(&path)?;
            match file.try_lock() {
                Ok(()) => return Ok(Self { orders: file, copy: opened(&path.with_extension("copy"))? }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(std::io::Error::other("too many issuers share the folder"))
    }
}

impl SetNote for FileNote {
    fn write(&mut self, orders: &[OrderId]) {
        let mut text = String::with_capacity(orders.len() * 37);
        for id in orders {
            text.push_str(&id.to_string());
            text.push('\n');
        }
        // Without a note a poisonous order is found later: by the redeliveries it causes.
        if let Err(error) = replace(&mut self.orders, &text) {
            tracing::warn!(%error, "the issuer's note could not be written");
        }
    }

    fn keep(&mut self, copy: Copy) {
        let text = format!("{} {}\n", HEXLOWER.encode(&copy.generation), copy.sets);
        // An older one finds fewer restored copies, and refuses none that is not.
        if let Err(error) = replace(&mut self.copy, &text) {
            tracing::warn!(%error, "which copy of the data this is could not be noted");
        }
    }

    fn kept(&mut self) -> Option<Copy> {
        copy_of(&read(&mut self.copy).ok()?)
    }

    fn read(&mut self) -> Vec<OrderId> {
        match read(&mut self.orders) {
            Ok(text) => text.lines().filter_map(OrderId::parse).collect(),
            Err(error) => {
                tracing::warn!(%error, "the issuer's note could not be read");
                vec![]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::time::Timestamp;

    #[test]
    fn a_note_outlives_its_writer_and_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let ids: Vec<_> = (0..3).map(|n| OrderId::new(Timestamp::from_micros(1), [n; 10])).collect();
        FileNote::open(folder.path(), 0).unwrap().write(&ids);
        let mut next = FileNote::open(folder.path(), 0).unwrap();
        assert_eq!(next.read(), ids);
        next.write(&ids[..1]);
        assert_eq!(next.read(), ids[..1]);
        let mut beside = FileNote::open(folder.path(), 0).unwrap();
        assert_eq!(beside.read(), [], "a standby in the same folder has a note of its own");
        let copy = Copy { generation: [7; 16], sets: 12 };
        assert_eq!(next.kept(), None);
        next.keep(Copy { sets: 1_000, ..copy });
        next.keep(copy);
        assert_eq!((next.kept(), copies(folder.path())), (Some(copy), vec![copy]));
    }
}
