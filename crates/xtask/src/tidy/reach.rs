//! Import rules that only the code shows: who reads environment, files, signals, clocks and global randomness.

use std::collections::BTreeSet;

use super::Problem;
use super::imports::AROUND;
use super::rust::{self, Named};
use super::tree::{File, Tree};

/// A way to reach the world outside the program.
struct Reach {
    path: &'static str,
    /// The product's crates that may take it.
    may: &'static [&'static str],
    tests: Tests,
    remedy: &'static str,
}

#[derive(PartialEq, Eq)]
enum Tests {
    /// A test may take it anywhere.
    May,
    /// A test takes an argument for it, as the code under test does.
    MayNot,
}

const REACHES: &[Reach] = &[
    Reach {
        path: "std::env",
        // A test arms the fault points of a process that it starts.
        may: &["tessera", "faults"],
        tests: Tests::May,
        remedy: "take the value as an argument; only the binary reads the environment",
    },
    Reach {
        path: "std::fs",
        // SQLite makes the folder of its database file.
        may: &["tessera", "store-sqlite"],
        tests: Tests::May,
        remedy: "take bytes or a trait as an argument; only the binary touches files",
    },
    Reach {
        path: "tokio::fs",
        may: &["tessera"],
        tests: Tests::May,
        remedy: "take bytes or a trait as an argument; only the binary touches files",
    },
    Reach {
        path: "tokio::signal",
        may: &["tessera"],
        tests: Tests::May,
        remedy: "take a cancellation token; only the binary hears signals",
    },
    Reach {
        path: "SystemTime::now",
        may: &["tessera"],
        tests: Tests::MayNot,
        remedy: "take the time as an argument; the binary's clock is the one place",
    },
    Reach {
        path: "now_utc",
        may: &["tessera"],
        tests: Tests::MayNot,
        remedy: "take the time as an argument; the binary's clock is the one place",
    },
    Reach {
        path: "rand::rng",
        may: &["tessera"],
        tests: Tests::MayNot,
        remedy: "take a generator as an argument; the binary seeds them",
    },
];

pub(super) fn the_world_is_reached_by_the_binary_alone(tree: &Tree) -> Vec<Problem> {
    tree.rust().flat_map(reached).collect()
}

fn reached(file: &File) -> Vec<Problem> {
    // Workspace tests read what they need, but take their time and randomness from the testbed.
    let Some(folder) = file.crate_folder().filter(|folder| *folder == "tests" || !AROUND.contains(folder))
    else {
        return Vec::new();
    };
    let production = file.production_lines();
    let paths = rust::paths(&rust::code(&file.text));
    let mut problems = Vec::new();
    for reach in REACHES.iter().filter(|reach| !reach.may.contains(&folder)) {
        let counts = |named: &&Named| reach.tests == Tests::MayNot || named.line <= production;
        let lines: BTreeSet<usize> = paths
            .iter()
            .filter(|named| named.holds(reach.path))
            .filter(counts)
            .map(|named| named.line)
            .collect();
        let problem =
            |line| Problem::new(&file.path, line, format!("`{}` in {folder}", reach.path), reach.remedy);
        problems.extend(lines.into_iter().map(problem));
    }
    problems
}

pub(super) fn the_binary_only_serves_with_axum(tree: &Tree) -> Vec<Problem> {
    tree.rust().filter(|file| file.crate_folder() == Some("tessera")).flat_map(more_than_serving).collect()
}

fn more_than_serving(file: &File) -> Vec<Problem> {
    let more = |named: &Named| named.holds("axum") && !named.holds("axum::serve");
    let problem = |named: Named| {
        Problem::new(
            &file.path,
            named.line,
            format!("`{}` in the binary", named.path),
            "routes and pages belong to api and web; the binary only calls `axum::serve`",
        )
    };
    rust::paths(&rust::code(&file.text)).into_iter().filter(more).map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(path: &str, text: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[(path, text)]);
        let problems =
            [the_world_is_reached_by_the_binary_alone(&tree), the_binary_only_serves_with_axum(&tree)];
        problems.into_iter().flatten().map(|problem| (problem.line, problem.wrong)).collect()
    }

    #[test]
    fn every_reach_is_seen_however_it_is_imported() {
        for (text, path) in [
            ("fn a() { std::env::var(\"B\"); }", "std::env"),
            ("use std::{env, fmt};", "std::env"),
            ("use std::fs::{self, File};", "std::fs"),
            ("tokio::fs::read(a).await", "tokio::fs"),
            ("use tokio::{signal::ctrl_c, time};", "tokio::signal"),
            ("let a = std::time::SystemTime::now();", "SystemTime::now"),
            ("let a = OffsetDateTime::now_utc();", "now_utc"),
            ("use rand::{Rng, rng};", "rand::rng"),
        ] {
            assert_eq!(
                wrong("crates/orders/src/place.rs", text),
                [(1, format!("`{path}` in orders"))],
                "{text}"
            );
            assert_eq!(wrong("crates/tessera/src/clock.rs", text), [], "{text}");
            assert_eq!(wrong("crates/testbed/src/clock.rs", text), [], "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_reach_is_none() {
        let text = "// std::env\nlet a = \"std::fs\";\nuse rand::rngs::StdRng;\nenv!(\"CARGO_PKG_VERSION\");";
        assert_eq!(wrong("crates/orders/src/place.rs", text), []);
    }

    #[test]
    fn tests_may_read_files_but_not_the_clock() {
        let text = "use std::fs;\nlet a = SystemTime::now();";
        let clock = "`SystemTime::now` in";
        assert_eq!(wrong("tests/steps/main.rs", text), [(2, format!("{clock} tests"))]);
        let inline = format!("#[cfg(test)]\nmod tests {{\n{text}\n}}");
        assert_eq!(wrong("crates/orders/src/place.rs", &inline), [(4, format!("{clock} orders"))]);
    }

    #[test]
    fn sqlite_may_make_its_folder() {
        assert_eq!(
            wrong("crates/store-sqlite/src/open.rs", "std::fs::create_dir_all(a);\ntokio::fs::read(b);")
                .len(),
            1
        );
    }

    #[test]
    fn the_binary_serves_and_routes_nothing() {
        let serves = "axum::serve(a, b).await; use axum::serve::ListenerExt;";
        assert_eq!(wrong("crates/tessera/src/serve.rs", serves), []);
        let routes = "use axum::{\n    Router,\n    serve,\n};";
        assert_eq!(
            wrong("crates/tessera/src/serve.rs", routes),
            [(2, "`axum::Router` in the binary".to_owned())]
        );
        assert_eq!(wrong("crates/api/src/lib.rs", routes), []);
    }
}
