//! Migrations: both engines go the same steps under the same names.

use std::collections::BTreeSet;

use super::Problem;
use super::tree::Tree;

const ENGINES: [&str; 2] = ["migrations/postgres/", "migrations/sqlite/"];

pub(super) fn engines_are_in_lock_step(tree: &Tree) -> Vec<Problem> {
    let [postgres, sqlite] = ENGINES.map(|folder| names(tree, folder));
    let [in_postgres, in_sqlite] = ENGINES;
    let twins = [(in_postgres, &postgres, in_sqlite, &sqlite), (in_sqlite, &sqlite, in_postgres, &postgres)];
    twins
        .into_iter()
        .flat_map(|(here, ours, there, theirs)| {
            ours.difference(theirs).map(move |name| {
                let remedy = format!("add {there}{name}, even if it only says why that engine needs nothing");
                Problem::new(&format!("{here}{name}"), 1, "a migration without its twin", remedy)
            })
        })
        .collect()
}

fn names<'tree>(tree: &'tree Tree, folder: &str) -> BTreeSet<&'tree str> {
    tree.files().iter().filter_map(|file| file.path.strip_prefix(folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lonely(paths: &[&str]) -> Vec<String> {
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, "")).collect();
        engines_are_in_lock_step(&Tree::of(&files)).into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn a_migration_of_one_engine_alone_is_a_problem() {
        let first = ["migrations/postgres/0001_orders.sql", "migrations/sqlite/0001_orders.sql"];
        assert_eq!(lonely(&first), [""; 0]);
        for second in ["migrations/postgres/0002_spans.sql", "migrations/sqlite/0002_span.sql"] {
            assert_eq!(lonely(&[first.as_slice(), &[second]].concat()), [second]);
        }
    }
}
