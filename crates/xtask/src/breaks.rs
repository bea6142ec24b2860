//! `cargo xtask breaks`: builds of the product that are wrong in one way each, which the suite must notice.
//!
//! The ways are compiled into test builds (`tessera_faults::Break`) and chosen by a variable. For each, the tests that are
//! meant to notice are run; a break that none of them notices fails the command. `docs/testing.md` gets the table.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::page::replaced;
use crate::servers::Servers;

/// The variable that breaks a test build; see `tessera_faults`.
const VARIABLE: &str = "TEST_BREAK";

/// The page, and the lines between which the table stands.
const PAGE: &str = "docs/testing.md";
const BEGIN: &str = "<!-- the table: cargo xtask breaks -->\n";
const END: &str = "<!-- its end -->\n";

/// The most tests that the table names for one break.
const NAMED_MAX: usize = 3;

/// A way to be wrong, and where it is noticed.
struct Break {
    name: &'static str,
    /// In a reader's words.
    what: &'static str,
    /// `sqlite` or `postgres`: what `TEST_ENGINE` is.
    engine: &'static str,
    /// The test binary.
    binary: &'static str,
    /// Parts of the names of the tests that are run.
    tests: &'static [&'static str],
}

const BREAKS: &[Break] = &[
    Break {
        name: "SweeperOff",
        what: "the sweeper finds nothing",
        engine: "sqlite",
        binary: "steps",
        tests: &["sweep::"],
    },
    Break {
        name: "IssueWithoutStateGuard",
        what: "an order is issued whatever its state is",
        engine: "sqlite",
        binary: "steps",
        tests: &["issue::"],
    },
    Break {
        name: "ReleaseWithoutRecheck",
        what: "a hold is released without a second look at its order",
        engine: "sqlite",
        binary: "steps",
        tests: &["expire::"],
    },
    Break {
        name: "LatePaymentRaisesNoClaim",
        what: "a late payment that is honoured raises no claim",
        engine: "sqlite",
        binary: "steps",
        tests: &["pay::late::"],
    },
    Break {
        name: "DecisionReadWithTheLock",
        what: "what is decided on is read when the lock is asked for, not when it is had",
        engine: "postgres",
        binary: "conformance",
        tests: &["waiting::deciding::"],
    },
    Break {
        name: "LockOrderReversed",
        what: "releasing locks orders before stock",
        engine: "postgres",
        binary: "steps",
        tests: &["crossing::"],
    },
    Break {
        name: "AcknowledgeBeforeCommit",
        what: "deliveries are acknowledged before their set is committed; the sweeper rests",
        engine: "postgres",
        binary: "end_to_end",
        tests: &["unaided::"],
    },
    Break {
        name: "ReturnedIsPublished",
        what: "a message that the broker returned counts as published",
        engine: "postgres",
        binary: "conformance",
        tests: &["rabbitmq::publishing"],
    },
];

/// Runs the tests against every break, and writes the table unless it is only to `check`.
pub(crate) fn run(root: &Path, nextest: bool, check: bool) -> Result<(), String> {
    let servers = Servers::start()?;
    let mut rows = String::new();
    for broken in BREAKS {
        let caught = caught(root, broken, nextest, servers.variables())?;
        if caught.is_empty() {
            return Err(format!(
                "{} was not noticed by {:?} of {}",
                broken.name, broken.tests, broken.binary
            ));
        }
        println!("{} ({}): noticed by {} tests", broken.name, broken.engine, caught.len());
        rows.push_str(&row(broken, &caught));
    }
    if check {
        return Ok(());
    }
    let page = root.join(PAGE);
    let text = fs::read_to_string(&page).map_err(|e| format!("{PAGE} cannot be read: {e}"))?;
    let table = format!("| broken | on | noticed by |\n|---|---|---|\n{rows}");
    let text = replaced(&text, BEGIN, END, &table)
        .ok_or_else(|| format!("{PAGE} has lost the lines around its table"))?;
    fs::write(&page, text).map_err(|e| format!("{PAGE} cannot be written: {e}"))
}

/// The tests that fail under a break. What they print is not shown: they fail on purpose.
fn caught(
    root: &Path,
    broken: &Break,
    nextest: bool,
    servers: &[(String, String)],
) -> Result<BTreeSet<String>, String> {
    let runner: &[&str] = if nextest { &["nextest", "run"] } else { &["test", "--no-fail-fast"] };
    let mut command = Command::new("cargo");
    command.args(runner).args(["--workspace", "--all-features"]);
    match nextest {
        // A choice by nextest builds nothing anew.
        true => command.args(["-E", &format!("binary(={})", broken.binary), "--"]),
        false => command.args(["--test", broken.binary, "--"]),
    };
    command.args(broken.tests).current_dir(root).env("CARGO_TERM_COLOR", "never");
    command.envs(servers.iter().map(|(name, value)| (name, value)));
    command.env("TEST_ENGINE", broken.engine).env(VARIABLE, broken.name);
    // What is broken measures nothing.
    command.env_remove(crate::reliability::FOLDER);
    let output = command.output().map_err(|e| format!("cargo cannot be run: {e}"))?;
    let said = [output.stdout, output.stderr].concat();
    Ok(failed(&String::from_utf8_lossy(&said)))
}

/// The names of failed tests, as nextest (`FAIL [ 0.1s] (1/2) BINARY NAME`) or cargo (`test NAME ... FAILED`) tell them.
fn failed(said: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let line = line.trim();
        if line.starts_with("FAIL [") || line.starts_with("TIMEOUT [") {
            return line.rsplit(' ').next().map(str::to_owned);
        }
        line.strip_prefix("test ")?.strip_suffix(" ... FAILED").map(str::to_owned)
    };
    said.lines().filter_map(name).collect()
}

fn row(broken: &Break, caught: &BTreeSet<String>) -> String {
    let engine = if broken.engine == "sqlite" { "SQLite" } else { "PostgreSQL" };
    let mut names: Vec<String> =
        caught.iter().take(NAMED_MAX).map(|name| format!("`{}::{name}`", broken.binary)).collect();
    if caught.len() > NAMED_MAX {
        names.push(format!("{} more", caught.len() - NAMED_MAX));
    }
    format!("| {} (`{}`) | {engine} | {} |\n", broken.what, broken.name, names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_are_told_by_either_runner() {
        let nextest =
            "        FAIL [   0.610s] ( 56/386) tessera-tests::steps sweep::one\n   PASS [ 1s] (2/2) t two\n";
        let cargo = "test sweep::one ... FAILED\ntest two ... ok\n";
        let expected = BTreeSet::from(["sweep::one".to_owned()]);
        assert_eq!((failed(nextest), failed(cargo)), (expected.clone(), expected));
    }

    #[test]
    fn a_row_names_a_few_tests_and_counts_the_rest() {
        let caught = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
        let row = row(&BREAKS[0], &caught);
        assert!(row.ends_with("| SQLite | `steps::a`, `steps::b`, `steps::c`, 2 more |\n"), "{row}");
    }
}
