//! The command line.

/// What `cargo xtask` answers to `--help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask <TASK>

Tasks:
  test [FILTER…]  Run every check and every test, stopping at the first stage that fails.
                  Filters are parts of test names; they narrow the last two stages only.
  tidy            Run the house rules alone: sizes, imports, migrations, words, docs.
  breaks          Break the product in each way that a test must notice, and write the table of docs/testing.md;
                  with --check the table stays as it is.
  reliability     Write what faults cost, as the last whole `test` measured it, into docs/reliability.md.
";

/// What the caller asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    Test {
        filters: Vec<String>,
    },
    Tidy,
    /// Whether the table is left as it is.
    Breaks {
        check: bool,
    },
    Reliability,
}

/// Reads the words after `cargo xtask`; a refusal says what to write instead.
pub(crate) fn parse(words: &[String]) -> Result<Task, String> {
    let Some((task, rest)) = words.split_first() else { return Err("xtask needs a task".to_owned()) };
    if words.iter().any(|word| word == "--help" || word == "-h") || task == "help" {
        return Ok(Task::Help);
    }
    match (task.as_str(), rest) {
        ("test", filters) => match filters.iter().find(|filter| filter.starts_with('-')) {
            None => Ok(Task::Test { filters: filters.to_vec() }),
            Some(option) => Err(format!(
                "`{option}` is not a part of a test's name; options go to `cargo nextest run` or `cargo test`"
            )),
        },
        ("tidy", []) => Ok(Task::Tidy),
        ("breaks", []) => Ok(Task::Breaks { check: false }),
        ("breaks", [option]) if option == "--check" => Ok(Task::Breaks { check: true }),
        ("breaks", _) => Err("breaks takes `--check` or nothing".to_owned()),
        ("reliability", []) => Ok(Task::Reliability),
        (task @ ("tidy" | "reliability"), _) => Err(format!("{task} takes no arguments")),
        (unknown, _) => Err(format!("xtask has no task `{unknown}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn words_after_test_are_filters() {
        let filters = vec!["issue".to_owned(), "draw::".to_owned()];
        assert_eq!(parsed("test issue draw::"), Ok(Task::Test { filters }));
        assert_eq!(parsed("test"), Ok(Task::Test { filters: vec![] }));
    }

    #[test]
    fn tasks_without_words_stand_alone() {
        assert_eq!(parsed("tidy"), Ok(Task::Tidy));
        assert_eq!(parsed("breaks"), Ok(Task::Breaks { check: false }));
        assert_eq!(parsed("breaks --check"), Ok(Task::Breaks { check: true }));
        assert!(parsed("breaks all").is_err());
        assert_eq!(parsed("reliability"), Ok(Task::Reliability));
        assert!(parsed("tidy sizes").is_err());
    }

    #[test]
    fn help_is_given_wherever_it_is_asked_for() {
        assert_eq!(parsed("--help"), Ok(Task::Help));
        assert_eq!(parsed("test --help"), Ok(Task::Help));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (line, named) in [("tests", "`tests`"), ("test --release", "`--release`"), ("", "needs a task")] {
            assert!(parsed(line).is_err_and(|refusal| refusal.contains(named)), "{line}");
        }
    }
}
