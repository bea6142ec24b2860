//! Migrations: both engines go the same steps under the same names.

use std::collections::BTreeSet;

use super::Problem;
use super::tree::Tree;

/// The crate of each engine, and the folder of its migrations.
const ENGINES: [(&str, &str); 2] =
    [("crates/store-postgres/", "migrations/postgres/"), ("crates/store-sqlite/", "migrations/sqlite/")];

/// Nothing is asked before both engines have their crates.
pub(super) fn engines_are_in_lock_step(tree: &Tree) -> Vec<Problem> {
    if ENGINES.iter().any(|(engine, _)| names(tree, engine).is_empty()) {
        return Vec::new();
    }
    let [(_, postgres), (_, sqlite)] = ENGINES;
    [(postgres, sqlite), (sqlite, postgres)]
        .into_iter()
        .flat_map(|(here, there)| lonely(tree, here, there))
        .collect()
}

fn lonely(tree: &Tree, here: &str, there: &str) -> Vec<Problem> {
    let problem = |name: &&str| {
        let remedy = format!("add {there}{name}, even if it only says why that engine needs nothing");
        Problem::new(&format!("{here}{name}"), 1, "a migration without its twin", remedy)
    };
    names(tree, here).difference(&names(tree, there)).map(problem).collect()
}

fn names<'tree>(tree: &'tree Tree, folder: &str) -> BTreeSet<&'tree str> {
    tree.files().iter().filter_map(|file| file.path.strip_prefix(folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRATES: [&str; 2] = ["crates/store-postgres/Cargo.toml", "crates/store-sqlite/Cargo.toml"];

    fn lonely(paths: &[&str]) -> Vec<String> {
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, "")).collect();
        engines_are_in_lock_step(&Tree::of(&files)).into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn a_migration_of_one_engine_alone_is_a_problem() {
        let first = ["migrations/postgres/0001_orders.sql", "migrations/sqlite/0001_orders.sql"];
        let before = [CRATES, first].concat();
        assert_eq!(lonely(&before), [""; 0]);
        for second in ["migrations/postgres/0002_spans.sql", "migrations/sqlite/0002_span.sql"] {
            assert_eq!(lonely(&[before.as_slice(), &[second]].concat()), [second]);
        }
    }

    #[test]
    fn an_engine_without_migrations_lacks_them_all() {
        let [_, sqlite] = CRATES;
        let first = "migrations/sqlite/0001_orders.sql";
        assert_eq!(lonely(&[CRATES.as_slice(), &[first]].concat()), [first]);
        assert_eq!(lonely(&[sqlite, first]), [""; 0]);
    }
}
