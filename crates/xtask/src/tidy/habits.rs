//! Habits of code and tests: nothing left for later, no test that does not run, names that are facts.

use super::Problem;
use super::rust;
use super::tree::{File, Tree};

/// What blanked code must not hold, how it reads, and the remedy.
const LEFTOVERS: &[(&str, &str, &str)] = &[
    ("#[ignore", "`#[ignore]`", "make the test pass, or delete it"),
    ("todo!", "`todo!`", "write it, or return an error that names what is missing"),
    ("unimplemented!", "`unimplemented!`", "write it, or return an error that names what is missing"),
    ("dbg!", "`dbg!`", "remove it"),
];

pub(super) fn tests_run_and_are_facts(tree: &Tree) -> Vec<Problem> {
    tree.rust().flat_map(|file| leftovers(file).into_iter().chain(prefixed_tests(file))).collect()
}

fn leftovers(file: &File) -> Vec<Problem> {
    let code = rust::code(&file.text);
    let mut problems = Vec::new();
    for (line, text) in (1..).zip(code.lines()) {
        let left = LEFTOVERS.iter().filter(|(needle, _, _)| holds_word(text, needle));
        problems.extend(left.map(|(_, reads, remedy)| Problem::new(&file.path, line, *reads, *remedy)));
    }
    problems
}

fn holds_word(text: &str, needle: &str) -> bool {
    let part_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(needle)
        .any(|(at, _)| text.get(..at).is_none_or(|before| !before.ends_with(part_of_name)))
}

fn prefixed_tests(file: &File) -> Vec<Problem> {
    let code = rust::code(&file.text);
    let mut problems = Vec::new();
    let mut under_test = false;
    for (line, text) in (1..).zip(code.lines().map(str::trim)) {
        if text.starts_with("#[") {
            under_test |= text.contains("test]") || text.contains("test(");
        } else if let Some((_, name)) = text.split_once("fn ") {
            if under_test && name.starts_with("test_") {
                let name = name.split(['(', '<']).next().unwrap_or_default();
                let remedy = "name the fact it asserts, without the prefix";
                problems.push(Problem::new(&file.path, line, format!("a test called `{name}`"), remedy));
            }
            under_test = false;
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Vec<(usize, String)> {
        let problems = tests_run_and_are_facts(&Tree::of(&[("crates/model/src/a.rs", text)]));
        problems.into_iter().map(|problem| (problem.line, problem.wrong)).collect()
    }

    #[test]
    fn every_leftover_is_found() {
        for (needle, reads, _) in LEFTOVERS {
            assert_eq!(wrong(&format!("\n{needle}")), [(2, (*reads).to_owned())]);
        }
        assert_eq!(wrong("#[ignore = \"slow\"]").len(), 1);
        assert_eq!(wrong("let a = \"todo!\"; // dbg!\nmy_dbg!(a)"), []);
    }

    #[test]
    fn a_test_named_after_being_one_is_a_problem() {
        for attribute in ["#[test]", "#[tokio::test]", "#[tokio::test(start_paused = true)]"] {
            let text = format!("{attribute}\n#[expect(a)]\nasync fn test_issue() {{}}");
            assert_eq!(wrong(&text), [(3, "a test called `test_issue`".to_owned())], "{attribute}");
        }
    }

    #[test]
    fn a_helper_may_be_named_so() {
        assert_eq!(wrong("#[test]\nfn issues() {}\n\nfn test_shop() {}"), []);
        assert_eq!(wrong("#[cfg(test)]\nmod a {}\nfn tested() {}"), []);
    }
}
