//! The stages of `cargo xtask test`, from the cheapest to the longest.
//!
//! The tests come last and print nothing after them, so that the test runner's summary closes the output.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::reliability;
use crate::servers::{BESIDE, Servers};
use crate::toolchain;

/// Clippy, rustdoc and the tests look at the same code: test-only features, such as the conformance suites, included.
const EVERYTHING: &[&str] = &["--workspace", "--all-features"];

/// The tests that run on SQLite first, and then again on the servers. A choice by nextest builds nothing anew.
const ON_SERVERS: &[&str] = &["-E", "binary(=steps) + binary(=end_to_end)"];
const ON_SERVERS_BY_CARGO: &[&str] = &["--test", "steps", "--test", "end_to_end"];

/// Stories that are about servers, or about a file, whatever the run is for: once is enough.
const TOLD_ONCE: &[&str] = &["split::", "servers::", "embedded::"];

/// Programs that tests run beside the one that shops run.
const PROGRAMS: &[&str] = &["--bin", "tessera-servers", "--bin", "tessera-faulty"];

/// One command of the gate.
#[derive(Debug)]
struct Stage {
    name: &'static str,
    /// Arguments of `cargo`.
    arguments: Vec<String>,
    /// A variable set for this stage alone.
    variable: Option<(&'static str, &'static str)>,
    /// Whether it runs beside PostgreSQL and RabbitMQ: the tests do.
    beside_servers: bool,
}

/// Runs every stage in `root`; the error names the one that failed and the command that repeats it.
pub(crate) fn run(root: &Path, filters: &[String]) -> Result<(), String> {
    toolchain::complete()?;
    let stages = plan(toolchain::has_nextest(), filters);
    if filters.is_empty() {
        reliability::forget(root);
    }
    let mut passed = Vec::new();
    let mut servers = None;
    for (position, stage) in stages.iter().enumerate() {
        if stage.beside_servers && servers.is_none() {
            servers = Some(started(&mut passed)?);
            println!("\n{}", summary(&passed));
        }
        println!("\n== {}: {stage}", stage.name);
        let since = Instant::now();
        let variables = servers.as_ref().map(Servers::variables).unwrap_or_default();
        let mut command = stage.command(root, variables);
        let success = command
            .env(reliability::FOLDER, reliability::folder(root))
            .status()
            .is_ok_and(|status| status.success());
        let took = since.elapsed();
        if !success {
            return Err(stage.failure(took));
        }
        if position + 1 < stages.len() {
            println!("== {} passed in {}", stage.name, seconds(took));
        }
        passed.push((stage.name, took));
    }
    Ok(())
}

/// Starts what the tests run beside, as a stage of its own.
fn started(passed: &mut Vec<(&'static str, Duration)>) -> Result<Servers, String> {
    println!("\n== servers: PostgreSQL and RabbitMQ for the tests");
    let since = Instant::now();
    let servers = Servers::start()?;
    let took = since.elapsed();
    println!("== servers passed in {}", seconds(took));
    passed.push(("servers", took));
    Ok(servers)
}

fn plan(nextest: bool, filters: &[String]) -> Vec<Stage> {
    let runner: &[&str] = if nextest { &["nextest", "run"] } else { &["test", "--no-fail-fast"] };
    // Doc tests have a stage of their own, before this one.
    let all: &[&str] = if nextest { &[] } else { &["--lib", "--bins", "--tests"] };
    let run = [runner, EVERYTHING, all].concat();
    let on_servers = if nextest { ON_SERVERS } else { ON_SERVERS_BY_CARGO };
    let again = [runner, EVERYTHING, on_servers].concat();
    vec![
        Stage::new("format", &["fmt", "--all", "--check"]),
        Stage::new("tidy", &["xtask", "tidy"]),
        Stage::new("clippy", &[&["clippy"], EVERYTHING, &["--all-targets", "--", "-D", "warnings"]].concat()),
        binary(),
        Stage {
            variable: Some(("RUSTDOCFLAGS", "-D warnings")),
            ..Stage::new("docs", &[&["doc", "--no-deps"], EVERYTHING].concat())
        },
        Stage::new("doc tests", &[&["test", "--doc"], EVERYTHING].concat()),
        Stage::new("build tests", &[run.as_slice(), &["--no-run"]].concat()),
        programs(),
        Stage { beside_servers: true, ..Stage::new("breaks", &["xtask", "breaks", "--check"]) },
        Stage::tests("tests", &run, nextest, &[], filters),
        Stage {
            variable: Some(("TEST_ENGINE", "postgres")),
            ..Stage::tests("tests on PostgreSQL and RabbitMQ", &again, nextest, TOLD_ONCE, filters)
        },
    ]
}

/// Builds what a task outside the gate runs.
pub(crate) fn prepared(root: &Path) -> Result<(), String> {
    for stage in [binary(), programs()] {
        println!("\n== {stage}");
        if !stage.command(root, &[]).status().is_ok_and(|status| status.success()) {
            return Err(format!("{} failed", stage.name));
        }
    }
    Ok(())
}

/// End-to-end tests run target/debug/tessera: the same build that `cargo run` makes.
fn binary() -> Stage {
    Stage::new("binary", &["build", "--package", "tessera"])
}

/// The servers' holder, and the program with fault points.
fn programs() -> Stage {
    Stage::new("build programs", &[&["build"], EVERYTHING, PROGRAMS].concat())
}

impl Stage {
    fn new(name: &'static str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { name, arguments, variable: None, beside_servers: false }
    }

    /// Tests without those skipped, narrowed by parts of their names.
    fn tests(name: &'static str, run: &[&str], nextest: bool, skipped: &[&str], filters: &[String]) -> Self {
        let mut stage = Self { beside_servers: true, ..Self::new(name, run) };
        if nextest && !filters.is_empty() {
            // A filter may fit tests of one of the stages alone.
            stage.arguments.push("--no-tests=pass".to_owned());
        }
        let skipped = skipped.iter().flat_map(|part| ["--skip".to_owned(), (*part).to_owned()]);
        let mut words: Vec<String> = skipped.chain(filters.iter().cloned()).collect();
        if !words.is_empty() {
            words.insert(0, "--".to_owned());
        }
        stage.arguments.extend(words);
        stage
    }

    fn command(&self, root: &Path, servers: &[(String, String)]) -> Command {
        let mut command = Command::new("cargo");
        command.args(&self.arguments).envs(self.variable).current_dir(root);
        command.envs(servers.iter().map(|(name, value)| (name, value)));
        command
    }

    fn failure(&self, took: Duration) -> String {
        format!("{} failed after {}. Repeat it alone with:\n\n    {self}", self.name, seconds(took))
    }
}

/// The command as a shell takes it, with what brings its servers.
impl fmt::Display for Stage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.beside_servers {
            write!(formatter, "{BESIDE} ")?;
        }
        if let Some((name, value)) = self.variable {
            // The holder runs a program, not a line of a shell.
            let env = if self.beside_servers { "env " } else { "" };
            write!(formatter, "{env}{name}={} ", quoted(value))?;
        }
        write!(formatter, "cargo")?;
        self.arguments.iter().try_for_each(|argument| write!(formatter, " {}", quoted(argument)))
    }
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=/.:,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn summary(passed: &[(&str, Duration)]) -> String {
    let total = passed.iter().map(|(_, took)| *took).sum();
    let each: Vec<String> = passed.iter().map(|(name, took)| format!("{name} {}", seconds(*took))).collect();
    format!("{} stages passed in {}: {}. Now the tests.", passed.len(), seconds(total), each.join(", "))
}

fn seconds(took: Duration) -> String {
    format!("{}.{} s", took.as_secs(), took.subsec_millis() / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters() -> Vec<String> {
        vec!["issue".to_owned(), "it's".to_owned()]
    }

    #[test]
    fn tests_are_the_last_stages() {
        for nextest in [true, false] {
            let stages = plan(nextest, &[]);
            let names: Vec<&str> = stages.iter().rev().take(2).map(|stage| stage.name).collect();
            assert_eq!(names, ["tests on PostgreSQL and RabbitMQ", "tests"]);
        }
    }

    #[test]
    fn filters_reach_the_tests_alone() {
        for (nextest, run, words) in [
            (true, "nextest run --workspace --all-features", " --no-tests=pass"),
            (false, "test --no-fail-fast --workspace --all-features", ""),
        ] {
            let stages = plan(nextest, &filters());
            let filtered: Vec<String> =
                stages.iter().map(Stage::to_string).filter(|command| command.contains("issue")).collect();
            let all = if nextest { "" } else { " --lib --bins --tests" };
            let end = r"issue 'it'\''s'";
            let again = match nextest {
                true => "-E 'binary(=steps) + binary(=end_to_end)'",
                false => "--test steps --test end_to_end",
            };
            let expected = [
                format!("{BESIDE} cargo {run}{all}{words} -- {end}"),
                format!(
                    "{BESIDE} env TEST_ENGINE=postgres cargo {run} {again}{words} -- \
                     --skip split:: --skip servers:: --skip embedded:: {end}"
                ),
            ];
            assert_eq!(filtered, expected);
        }
    }

    #[test]
    fn the_command_to_repeat_carries_its_variable() {
        let stages = plan(true, &[]);
        let docs = stages.iter().find(|stage| stage.name == "docs").map(Stage::to_string);
        let expected = "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --workspace --all-features";
        assert_eq!(docs.as_deref(), Some(expected));
    }

    #[test]
    fn a_failure_names_the_stage_its_seconds_and_its_command() {
        let failure = Stage::new("format", &["fmt", "--all"]).failure(Duration::from_millis(1_250));
        assert_eq!(failure, "format failed after 1.2 s. Repeat it alone with:\n\n    cargo fmt --all");
    }

    #[test]
    fn the_summary_adds_the_stages_up() {
        let passed = [("format", Duration::from_millis(500)), ("clippy", Duration::from_secs(61))];
        assert_eq!(
            summary(&passed),
            "2 stages passed in 61.5 s: format 0.5 s, clippy 61.0 s. Now the tests."
        );
    }
}
