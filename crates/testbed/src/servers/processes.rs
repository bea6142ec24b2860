//! The processes of a server that was started here: those that work in its folder.
//!
//! PostgreSQL's processes lead sessions of their own and Erlang's helpers groups of their own, so neither a group
//! nor a parent names them all; but each keeps the folder it was started in. Linux only (`/proc`).

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::Trouble;

/// How often a server's processes are looked for before they count as impossible to end, [`AGAIN_AFTER`] apart: 10 s.
const ROUNDS_MAX: u32 = 500;

const AGAIN_AFTER: Duration = Duration::from_millis(20);

/// Whether this system shows where its processes work.
pub(super) fn are_shown() -> bool {
    Path::new("/proc/self/cwd").exists()
}

/// The ids of all processes that work in a folder or below it. The path must hold no links.
pub fn within(folder: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        // Those of others cannot be read and are none of ours; those that have ended have no folder.
        let works_in = std::fs::read_link(entry.path().join("cwd")).ok()?;
        works_in.starts_with(folder).then_some(id)
    });
    ids.collect()
}

/// SIGKILL to all of them; returns once none is left.
pub(super) fn kill(folder: &Path) -> Result<(), Trouble> {
    for _ in 0..ROUNDS_MAX {
        let left = within(folder);
        if left.is_empty() {
            return Ok(());
        }
        signal("KILL", &left);
        thread::sleep(AGAIN_AFTER);
    }
    Err(Trouble::new("its processes cannot be ended"))
}

/// SIGSTOP to all of them, twice: the first round stops those that start others.
pub(super) fn freeze(folder: &Path) {
    signal("STOP", &within(folder));
    signal("STOP", &within(folder));
}

/// SIGCONT to all of them.
pub(super) fn thaw(folder: &Path) {
    signal("CONT", &within(folder));
}

/// Sends a signal through the shell's own `kill`, since a bare machine may have no other.
pub(super) fn signal(name: &str, ids: &[u32]) {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"kill -s "$0" "$@""#, name]).args(ids.iter().map(u32::to_string));
    // A process that has just ended cannot be told anything, and need not be.
    let _told = shell.stdin(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processes_of_a_folder_end_and_no_other() {
        let (ours, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let sleeper = |folder: &Path| {
            Command::new("sh").args(["-c", "sleep 60; :"]).current_dir(folder).spawn().unwrap()
        };
        let (mut inside, mut outside) = (sleeper(ours.path()), sleeper(other.path()));
        kill(&ours.path().canonicalize().unwrap()).unwrap();
        assert!(!inside.wait().unwrap().success());
        assert_eq!(outside.try_wait().unwrap(), None);
        kill(&other.path().canonicalize().unwrap()).unwrap();
        outside.wait().unwrap();
    }
}
