//! The cases of other shops: the page names tests that exist, and the tests name cases that are on the page.

use super::Problem;
use super::tree::{File, Tree};

const PAGE: &str = "docs/cases.md";

/// How a test's doc comment begins that shows a case.
const SHOWS: &str = "/// Case ";

pub(super) fn cases_name_their_tests(tree: &Tree) -> Vec<Problem> {
    let Some(page) = tree.file(PAGE) else { return Vec::new() };
    let lines = (1..).zip(page.text.lines());
    let gone = lines.flat_map(|(line, text)| tests(text).map(move |test| (line, test)));
    let gone = gone.filter(|(_, (path, name))| !holds(tree.file(path), name));
    let remedy = "name a test that shows the case, and the file it is in";
    let gone = gone
        .map(|(line, (path, name))| Problem::new(PAGE, line, format!("no test `{name}` in {path}"), remedy));
    let unlisted =
        tree.rust().filter(|file| file.path.starts_with("tests/")).flat_map(|file| unlisted(page, file));
    gone.chain(unlisted).collect()
}

/// Path and name of each test that a line links to: [`name`](../path).
fn tests(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split("[`").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once("`](../")?;
        Some((rest.split_once(')')?.0, name))
    })
}

fn holds(file: Option<&File>, test: &str) -> bool {
    file.is_some_and(|file| file.text.contains(&format!("fn {test}(")))
}

fn unlisted(page: &File, file: &File) -> Vec<Problem> {
    let named = (1..).zip(file.text.lines()).filter_map(|(line, text)| {
        let number = text.strip_prefix(SHOWS)?.split([':', ',', ' ', '.']).next()?;
        let rows = [format!("| {number} |"), format!("| [{number}](")];
        let listed = page.text.lines().any(|row| rows.iter().any(|start| row.starts_with(start)));
        (!listed)
            .then(|| Problem::new(&file.path, line, format!("case {number} is not in {PAGE}"), "add its row"))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_gone_and_a_case_without_a_row_are_problems() {
        let page =
            "| [P1](a://b) | lost | [`kept`](../tests/a.rs), [`gone`](../tests/a.rs) |\n| P2 | lost | |\n";
        let cases = ["P1: lost.", "P2, of late.", "P3: lost."].map(|case| format!("{SHOWS}{case}\n"));
        let tests = format!("{}fn kept() {{}}\n", cases.concat());
        let tree = Tree::of(&[(PAGE, page), ("tests/a.rs", &tests)]);
        let wrong: Vec<_> = cases_name_their_tests(&tree).into_iter().map(|p| (p.line, p.wrong)).collect();
        let gone = "no test `gone` in tests/a.rs".to_owned();
        assert_eq!(wrong, [(1, gone), (3, "case P3 is not in docs/cases.md".to_owned())]);
    }
}
