//! The folder of a private server: reachable by the user it runs as, and gone with it.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::servers::Trouble;
use crate::servers::launch::User;
use crate::servers::processes;

/// Where folders may be made, when the usual place cannot be reached by everybody.
const OPEN_TO_ALL: &[&str] = &["/tmp", "/var/tmp"];

/// How long a server that was asked to quit may take; the data is thrown away, so this loses nothing.
const QUIT_MAX: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(super) struct Folder {
    /// Removes it when dropped.
    _made: TempDir,
    /// The path without links, as the system names it in the working folders of processes.
    path: PathBuf,
    /// Whether we are root.
    root: bool,
}

impl Folder {
    pub(super) fn make() -> Result<Self, Trouble> {
        let trouble = Trouble::during::<std::io::Error>("making a folder");
        let made = tempfile::Builder::new().prefix("tessera-servers-").tempdir_in(open_to_all());
        let made = made.map_err(&trouble)?;
        let path = made.path().canonicalize().map_err(&trouble)?;
        let root = path.metadata().map_err(&trouble)?.uid() == 0;
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, open).map_err(&trouble)?;
        Ok(Self { _made: made, path, root })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whom a server runs as: as root the first of these users there is, else nobody but ourselves.
    pub(super) fn user(&self, names: &[&str]) -> Result<Option<User>, Trouble> {
        if !self.root {
            return Ok(None);
        }
        let accounts = std::fs::read_to_string("/etc/passwd").map_err(Trouble::during("/etc/passwd"))?;
        let found = names.iter().find_map(|name| account(&accounts, name));
        found.map(Some).ok_or_else(|| Trouble::new(format!("there is no user {}", names.join(" or "))))
    }

    /// Makes a folder in it that belongs to a user.
    pub(super) fn within(&self, name: &str, user: Option<User>) -> Result<PathBuf, Trouble> {
        let trouble = Trouble::during::<std::io::Error>(name);
        let path = self.path.join(name);
        std::fs::create_dir(&path).map_err(&trouble)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).map_err(&trouble)?;
        if let Some((user, group)) = user {
            chown(&path, Some(user), Some(group)).map_err(&trouble)?;
        }
        Ok(path)
    }
}

/// The usual place for such folders, if every user can pass through to it.
fn open_to_all() -> PathBuf {
    let usual = std::env::temp_dir();
    let passes = |folder: &Path| folder.metadata().is_ok_and(|folder| folder.mode() & 0o001 != 0);
    let others = OPEN_TO_ALL.iter().map(PathBuf::from).find(|folder| folder.is_dir());
    match usual.canonicalize() {
        Ok(path) if path.ancestors().all(passes) => path,
        _ => others.unwrap_or(usual),
    }
}

/// Finds `name:password:UID:GID:…`.
fn account(accounts: &str, name: &str) -> Option<User> {
    let fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let ids = |fields: Vec<&str>| match fields.as_slice() {
        [found, _, user, group, ..] if *found == name => Some((user.parse().ok()?, group.parse().ok()?)),
        _ => None,
    };
    fields.into_iter().find_map(ids)
}

/// SIGQUIT, and waits a moment for the end.
pub(super) fn ask_to_quit(child: &mut Child) {
    processes::signal("QUIT", &[child.id()]);
    let since = Instant::now();
    while since.elapsed() < QUIT_MAX && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts = "root:x:0:0::/:/bin/sh\npostgresql:x:7:8::/:\npostgres:x:104:112:a:b:c\n";
        assert_eq!(account(accounts, "postgres"), Some((104, 112)));
        assert_eq!(account(accounts, "rabbitmq"), None);
    }

    #[test]
    fn a_folder_can_be_reached_by_everybody_and_goes() {
        let folder = Folder::make().unwrap();
        let inside = folder.within("a", None).unwrap();
        let passes = |folder: &Path| folder.metadata().unwrap().mode() & 0o001 != 0;
        assert!(folder.path().ancestors().all(passes));
        drop(folder);
        assert!(!inside.exists());
    }
}
