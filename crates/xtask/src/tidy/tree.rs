//! The repository's files, as the checks see them.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::rust;

/// What holds no source, for when git cannot say so.
const NOT_SOURCE: &[&str] = &[".git", "target", "tessera-data"];

/// Every file that is tracked, or would be.
#[derive(Debug)]
pub(super) struct Tree {
    files: Vec<File>,
}

/// One file: its path from the root, with `/` on every system, and its text.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

impl Tree {
    pub(super) fn load(root: &Path) -> io::Result<Self> {
        let mut paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => walked(root)?,
        };
        paths.sort();
        paths.dedup();
        let mut files = Vec::new();
        for path in paths {
            let place = root.join(&path);
            // A tracked file may be deleted but not yet committed so; a link's target is checked where it stands.
            if place.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                let text = String::from_utf8_lossy(&fs::read(place)?).into_owned();
                files.push(File { path, text });
            }
        }
        Ok(Self { files })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let file = |&(path, text): &(&str, &str)| File { path: path.to_owned(), text: text.to_owned() };
        Self { files: files.iter().map(file).collect() }
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| Path::new(&file.path).extension().is_some_and(|end| end == "rs"))
    }
}

impl File {
    /// The folder of the crate this file belongs to: `model` for `crates/model/…`, `tests` for `tests/…`.
    pub(super) fn crate_folder(&self) -> Option<&str> {
        match self.path.strip_prefix("crates/") {
            Some(inside) => inside.split_once('/').map(|(folder, _)| folder),
            None => self.path.starts_with("tests/").then_some("tests"),
        }
    }

    /// Whether the whole file is test code: a `tests` module or folder, or a conformance suite.
    pub(super) fn is_test(&self) -> bool {
        let stem = |part: &str| {
            part.strip_suffix(".rs").unwrap_or(part) == "tests" || part.starts_with("conformance")
        };
        self.path.split('/').any(stem)
    }

    /// How many of its lines are production code.
    pub(super) fn production_lines(&self) -> usize {
        if self.is_test() { 0 } else { rust::production_lines(&self.text) }
    }
}

/// Tracked files and new ones that are not ignored; nothing when git, or its folder, is not here.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    let listed = String::from_utf8_lossy(&output.stdout).split_terminator('\0').map(str::to_owned).collect();
    output.status.success().then_some(listed)
}

fn walked(root: &Path) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if NOT_SOURCE.contains(&name.as_str()) {
                continue;
            }
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let list = if entry.file_type()?.is_dir() { &mut folders } else { &mut paths };
            list.push(path);
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn a_tree_without_git_is_walked_past_what_is_built() {
        let paths = walked(&root()).unwrap_or_default();
        assert!(paths.iter().any(|path| path == "crates/xtask/src/tidy/tree.rs"));
        assert!(!paths.iter().any(|path| path.starts_with("target") || path.starts_with(".git/")));
    }

    #[test]
    fn this_file_is_loaded_with_its_text() {
        let tree = Tree::load(&root()).expect("the repository can be read");
        let this = tree.file("crates/xtask/src/tidy/tree.rs").expect("this file is listed");
        assert_eq!(this.text, include_str!("tree.rs"));
    }

    #[test]
    fn a_file_knows_its_crate_and_whether_it_is_a_test() {
        for (path, folder, test) in [
            ("crates/model/src/money.rs", Some("model"), false),
            ("crates/model/src/money/tests.rs", Some("model"), true),
            ("crates/store/src/conformance/spans.rs", Some("store"), true),
            ("crates/store/src/conformance.rs", Some("store"), true),
            ("crates/testbed/src/shop.rs", Some("testbed"), false),
            ("tests/steps/main.rs", Some("tests"), true),
            ("README.md", None, false),
        ] {
            let file = File { path: path.to_owned(), text: String::new() };
            assert_eq!((file.crate_folder(), file.is_test()), (folder, test), "{path}");
        }
    }
}
