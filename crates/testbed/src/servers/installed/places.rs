//! Where installed programs are.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// Added to every search: what distributions leave out of a user's `PATH`.
const ALWAYS: &[&str] = &["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/bin", "/sbin"];

/// The first of the folders in which all these programs are.
pub(super) fn folder_with(programs: &[&str], before: &[PathBuf]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = std::env::split_paths(&path).chain(ALWAYS.iter().map(PathBuf::from));
    let has_all = |folder: &PathBuf| programs.iter().all(|program| folder.join(program).is_file());
    before.iter().cloned().chain(usual).find(has_all)
}

/// The search path for a server: the folder of its programs, then ours.
pub(super) fn path_with(folder: &Path) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = std::env::split_paths(&path).chain(ALWAYS.iter().map(PathBuf::from));
    let all: Vec<String> =
        std::iter::once(folder.to_owned()).chain(usual).map(|folder| folder.display().to_string()).collect();
    all.join(":")
}

/// The folders `LIBRARY/VERSION/bin`, the newest version first.
pub(super) fn versions(library: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(library).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort_by_key(|folder| Reverse(version(folder)));
    folders.into_iter().map(|folder| folder.join("bin")).collect()
}

/// `17` and `erts-13.1.5` as numbers that can be compared.
fn version(folder: &Path) -> Vec<u32> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let numbers = name.split(|letter: char| !letter.is_ascii_digit()).filter_map(|part| part.parse().ok());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first() {
        let library = tempfile::tempdir().unwrap();
        for name in ["9.6", "17", "15", "other"] {
            std::fs::create_dir(library.path().join(name)).unwrap();
        }
        let names: Vec<String> = versions(library.path())
            .iter()
            .map(|path| path.strip_prefix(library.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["17/bin", "15/bin", "9.6/bin", "other/bin"]);
    }

    #[test]
    fn a_folder_counts_only_with_all_its_programs() {
        let (half, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for place in [half.path().join("a-a"), whole.path().join("a-a"), whole.path().join("b-b")] {
            std::fs::write(place, "").unwrap();
        }
        let before = [half.path().to_owned(), whole.path().to_owned()];
        assert_eq!(folder_with(&["a-a", "b-b"], &before), Some(before[1].clone()));
        assert_eq!(folder_with(&["a-a", "c-c"], &before), None);
    }
}
