//! The issuer's notes in the data folder: the set in hand in one file, what it has seen of its store in another.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tessera_issuer::{Seen, SetNote};
use tessera_model::ids::OrderId;

mod seen;

pub(crate) use seen::seen;

use seen::text_of;

/// The most issuers of one queue in one folder.
const NOTES_MAX: u8 = 16;

/// A note in a file: an id a line. Not synced: it has to outlive the process, not the machine.
pub(crate) struct FileNote {
    orders: File,
    /// Beside it, what the issuer has seen of its store.
    copy: File,
    data_dir: PathBuf,
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

impl FileNote {
    /// Opens the note of an issuer queue: the first in the folder that no other process has open.
    pub(crate) fn open(data_dir: &Path, partition: u16) -> std::io::Result<Self> {
        for number in 0..NOTES_MAX {
            let path = data_dir.join(format!("issuer-{partition}.{number}.note"));
            let file = opened(&path)?;
            match file.try_lock() {
                Ok(()) => {
                    let (copy, data_dir) = (opened(&path.with_extension("copy"))?, data_dir.to_owned());
                    return Ok(Self { orders: file, copy, data_dir });
                }
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

    fn keep(&mut self, seen: &Seen) {
        // An older one finds fewer restored copies, and refuses none that is not.
        if let Err(error) = replace(&mut self.copy, &text_of(seen)) {
            tracing::warn!(%error, "which copy of the data this is could not be noted");
        }
    }

    fn kept(&mut self) -> Vec<Seen> {
        seen(&self.data_dir)
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
    use tessera_issuer::Copy;
    use tessera_model::ids::BatchId;
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
        let batch = |n| BatchId::new(Timestamp::from_micros(1), [n; 10]);
        let known = |sets, marks: &[(BatchId, i64)]| Seen::of(Copy { generation: [7; 16], sets }, marks);
        let (longer, shorter) = (known(1_000, &[(batch(1), 30), (batch(2), 4)]), known(12, &[(batch(2), 9)]));
        assert_eq!(next.kept(), []);
        next.keep(&longer);
        assert_eq!(
            beside.kept(),
            std::slice::from_ref(&longer),
            "what others of the folder have seen counts too"
        );
        next.keep(&shorter);
        assert_eq!(next.kept(), [shorter]);
    }
}
