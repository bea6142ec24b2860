//! The lock of a data folder: one serving process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::failure::Failure;

/// Held as long as it lives; the system gives it back when the process ends, however it ends.
pub(crate) struct Lock(#[expect(dead_code, reason = "held, not used")] File);

impl Lock {
    /// Takes the lock of a folder.
    pub(crate) fn take(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join("serve.lock");
        let wrong = |e: std::io::Error| {
            Failure::needs(
                format!("{} cannot be locked: {e}", path.display()),
                "see that data_dir is on a disk that knows locks and can be written",
            )
        };
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(wrong)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(Failure::needs(
                format!("another process serves {}", folder.display()),
                "stop it first, or set data_dir to another folder",
            )),
            Err(TryLockError::Error(e)) => Err(wrong(e)),
        }
    }
}
