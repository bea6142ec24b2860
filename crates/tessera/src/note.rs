//! The issuer's note of the set in hand: one file in the data folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use tessera_issuer::SetNote;
use tessera_model::ids::OrderId;

/// The most issuers of one queue in one folder.
const NOTES_MAX: u8 = 16;

/// A note in a file: an id a line. Not synced: it has to outlive the process, not the machine.
pub(crate) struct FileNote(File);

impl FileNote {
    /// Opens the note of an issuer queue: the first in the folder that no other process has open.
    pub(crate) fn open(data_dir: &Path, partition: u16) -> std::io::Result<Self> {
        for number in 0..NOTES_MAX {
            let path = data_dir.join(format!("issuer-{partition}.{number}.note"));
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(std::io::Error::other("too many issuers share the folder"))
    }

    fn replace(&mut self, text: &str) -> std::io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(text.as_bytes())?;
        self.0.set_len(u64::try_from(text.len()).unwrap_or(0))
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
        if let Err(error) = self.replace(&text) {
            tracing::warn!(%error, "the issuer's note could not be written");
        }
    }

    fn read(&mut self) -> Vec<OrderId> {
        let mut text = String::new();
        match self.0.seek(SeekFrom::Start(0)).and_then(|_| self.0.read_to_string(&mut text)) {
            Ok(_) => text.lines().filter_map(OrderId::parse).collect(),
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
    }
}
