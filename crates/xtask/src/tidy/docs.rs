//! Documentation: every module says what it is, and every document can be found from another one.

use std::collections::BTreeSet;

use super::Problem;
use super::tree::{File, Tree};

pub(super) fn modules_say_what_they_are(tree: &Tree) -> Vec<Problem> {
    let silent = tree.rust().filter(|file| !file.text.starts_with("//!"));
    let remedy = "begin the file with what the module is, what it is not and who calls it";
    silent.map(|file| Problem::new(&file.path, 1, "no `//!` doc", remedy)).collect()
}

/// Nothing is asked before there is a README to link from.
pub(super) fn documents_are_linked(tree: &Tree) -> Vec<Problem> {
    if tree.file("README.md").is_none() {
        return Vec::new();
    }
    let linked: BTreeSet<String> =
        tree.files().iter().filter(|file| is_markdown(file)).flat_map(links).collect();
    let lonely =
        tree.files().iter().filter(|file| file.path.starts_with("docs/") && !linked.contains(&file.path));
    let remedy = "link it from README.md or from the document that leads to it";
    lonely.map(|file| Problem::new(&file.path, 1, "no document links to it", remedy)).collect()
}

fn is_markdown(file: &File) -> bool {
    file.path.rsplit_once('.').is_some_and(|(_, end)| end == "md")
}

/// The repository's paths that a document links to, itself left out.
fn links(file: &File) -> Vec<String> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let openings = ["](", "]: ", "href=\"", "src=\"", "srcset=\""];
    let targets = openings.iter().flat_map(|opening| file.text.split(opening).skip(1));
    targets
        .map(|after| after.split([')', '"', '#', ' ', '\n']).next().unwrap_or_default())
        .filter(|target| !target.contains("://"))
        .map(|target| resolved(folder, target))
        .filter(|path| *path != file.path)
        .collect()
}

fn resolved(folder: &str, target: &str) -> String {
    let from = if target.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lonely(readme: &str, page: &str) -> Vec<String> {
        let tree = Tree::of(&[("README.md", readme), ("docs/a.md", page), ("docs/b.svg", "")]);
        documents_are_linked(&tree).into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn a_module_without_its_doc_is_a_problem() {
        let tree =
            Tree::of(&[("a.rs", "//! Says.\n"), ("b.rs", "// Says not.\n"), ("c.rs", ""), ("d.md", "")]);
        let silent: Vec<String> =
            modules_say_what_they_are(&tree).into_iter().map(|problem| problem.path).collect();
        assert_eq!(silent, ["b.rs", "c.rs"]);
    }

    #[test]
    fn a_document_without_a_link_is_a_problem() {
        assert_eq!(lonely("[a](docs/a.md)", "![b](b.svg)"), [""; 0]);
        assert_eq!(lonely("[a](./docs/a.md#top)", "<img src=\"../docs/b.svg\">"), [""; 0]);
        assert_eq!(lonely("see docs/a.md", "![b](b.svg)"), ["docs/a.md"]);
        assert_eq!(lonely("[a](docs/a.md)", "![b](docs/b.svg)"), ["docs/b.svg"]);
    }

    #[test]
    fn a_link_to_itself_leads_nowhere() {
        assert_eq!(lonely("[b]: docs/b.svg", "[a](a.md)"), ["docs/a.md"]);
    }

    #[test]
    fn nothing_is_asked_without_a_readme() {
        assert_eq!(documents_are_linked(&Tree::of(&[("docs/a.md", "")])), []);
    }
}
