//! The house rules: what a compiler and a linter do not check.
//!
//! Each check is a function from the tree's files to problems, and has a unit test that shows it a bad input.

mod cases;
mod deploy;
mod docs;
mod habits;
mod imports;
mod manifest;
mod migrations;
mod reach;
mod reasons;
mod rust;
mod sizes;
mod tree;
mod words;

use std::fmt;
use std::path::Path;

use tree::Tree;

type Check = fn(&Tree) -> Vec<Problem>;

const CHECKS: &[Check] = &[
    sizes::files_are_short,
    imports::crates_point_one_way,
    imports::libraries_stay_in_their_crates,
    reach::the_world_is_reached_by_the_binary_alone,
    reach::the_binary_only_serves_with_axum,
    migrations::engines_are_in_lock_step,
    words::nothing_names_one_machine,
    docs::modules_say_what_they_are,
    docs::documents_are_linked,
    cases::cases_name_their_tests,
    deploy::settings_exist,
    habits::tests_run_and_are_facts,
    reasons::dependencies_give_theirs,
];

/// One broken rule: where, what is wrong, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    path: String,
    line: usize,
    wrong: String,
    remedy: String,
}

impl Problem {
    fn new(path: &str, line: usize, wrong: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, wrong: wrong.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}; {}", self.path, self.line, self.wrong, self.remedy)
    }
}

/// Runs every check over the repository in `root`; the error lists every problem.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let tree = Tree::load(root).map_err(|error| format!("cannot read {}: {error}", root.display()))?;
    let problems = problems(&tree);
    if problems.is_empty() {
        println!("tidy: {} checks over {} files", CHECKS.len(), tree.files().len());
        return Ok(());
    }
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    Err(format!("{}\n\ntidy: {} problems", lines.join("\n"), lines.len()))
}

fn problems(tree: &Tree) -> Vec<Problem> {
    CHECKS.iter().flat_map(|check| check(tree)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        if let Err(problems) = run(&root) {
            panic!("{problems}");
        }
    }

    #[test]
    fn a_problem_says_where_what_and_the_remedy() {
        let problem = Problem::new("crates/model/src/money.rs", 7, "a float", "count minor units");
        assert_eq!(problem.to_string(), "crates/model/src/money.rs:7: a float; count minor units");
    }

    #[test]
    fn every_check_sees_the_whole_tree() {
        let tree = Tree::of(&[("crates/model/src/money.rs", "fn main() { todo!() }\n")]);
        let wrong: Vec<String> = problems(&tree).into_iter().map(|problem| problem.wrong).collect();
        assert_eq!(wrong, ["no `//!` doc", "`todo!`"]);
    }
}
