//! Words that tie the repository to one machine or one package registry.
//!
//! The needles are put together from parts, so that this file does not hold them.

use super::Problem;
use super::tree::{File, Tree};

/// Starts of absolute paths on somebody's machine.
const MACHINE_PATHS: &[&str] =
    &[concat!("/", "work/"), concat!("/", "home/"), concat!("/", "root/"), concat!("/", "Users/")];

/// Hosts of package registries; subdomains are theirs too.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("npm", "js.org"),
    concat!("npm", "js.com"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("debian", ".org"),
];

pub(super) fn nothing_names_one_machine(tree: &Tree) -> Vec<Problem> {
    tree.files().iter().flat_map(named).collect()
}

fn named(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in (1..).zip(file.text.lines()) {
        for needle in MACHINE_PATHS.iter().filter(|needle| starts_a_path(text, needle)) {
            let remedy = "write a path from the repository's root, or a placeholder";
            problems.push(Problem::new(&file.path, line, format!("the machine path `{needle}`"), remedy));
        }
        for needle in REGISTRY_HOSTS.iter().filter(|needle| ends_a_host(text, needle)) {
            let remedy = "leave the registry to the tool's own configuration";
            problems.push(Problem::new(&file.path, line, format!("the registry host `{needle}`"), remedy));
        }
    }
    problems
}

/// Not inside a longer path: `./work/` and `a/work/` are somebody's own folders.
fn starts_a_path(text: &str, needle: &str) -> bool {
    let inside = |letter: char| letter.is_alphanumeric() || "._-~}".contains(letter);
    text.match_indices(needle).any(|(at, _)| text.get(..at).is_none_or(|before| !before.ends_with(inside)))
}

/// Not the start of a longer name, as in the index repository that Cargo.lock names.
fn ends_a_host(text: &str, needle: &str) -> bool {
    let longer = |letter: char| letter.is_alphanumeric() || letter == '-';
    let starts = |at: usize| text.get(..at).is_none_or(|before| !before.ends_with(longer));
    let ends = |at: usize| text.get(at + needle.len()..).is_none_or(|after| !after.starts_with(longer));
    text.match_indices(needle).any(|(at, _)| starts(at) && ends(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Vec<(usize, String)> {
        let problems = nothing_names_one_machine(&Tree::of(&[("docs/a.md", text)]));
        problems.into_iter().map(|problem| (problem.line, problem.wrong)).collect()
    }

    #[test]
    fn every_needle_is_found() {
        for path in MACHINE_PATHS {
            assert_eq!(wrong(&format!("a\ncd {path}b")), [(2, format!("the machine path `{path}`"))]);
        }
        for host in REGISTRY_HOSTS {
            for text in [format!("https://{host}/a"), format!("from `static.{host}`."), (*host).to_owned()] {
                assert_eq!(wrong(&text), [(1, format!("the registry host `{host}`"))], "{text}");
            }
        }
    }

    #[test]
    fn a_folder_of_the_same_name_elsewhere_is_none() {
        let [work, ..] = MACHINE_PATHS else { panic!("no needles") };
        assert_eq!(wrong(&format!("crates{work}a .{work}b $HOME{work}c ${{HERE}}{work}d")), []);
    }

    #[test]
    fn a_longer_host_or_name_is_another_one() {
        let [host, ..] = REGISTRY_HOSTS else { panic!("no needles") };
        assert_eq!(wrong(&format!("{host}-index my-{host} {host}n")), []);
    }
}
