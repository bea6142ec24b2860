//! `cargo xtask reliability`: writes what faults cost on both engines, as `cargo xtask test` measured it last, into
//! `docs/reliability.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::page::replaced;

/// The page, and the lines between which the table stands.
const PAGE: &str = "docs/reliability.md";
const BEGIN: &str = "<!-- the table: cargo xtask reliability -->\n";
const END: &str = "<!-- its end -->\n";

/// The variable that tests look at; see `recovery` in the testbed.
pub(crate) const FOLDER: &str = "RELIABILITY_FOLDER";

/// What one fault costs: the bound, and what was measured on each engine, in milliseconds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    until: String,
    bound: u64,
    sqlite: Option<u64>,
    postgres: Option<u64>,
}

/// Rows by number and fault.
type Table = BTreeMap<(u16, String), Row>;

/// Where the tests leave what they measure.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join("target/reliability")
}

/// What an earlier run left is no measurement of the next one.
pub(crate) fn forget(root: &Path) {
    // Nothing is there the first time.
    let _absent = fs::remove_dir_all(folder(root));
}

/// Writes what the last whole run of the tests has measured.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let table = read(&folder(root))?;
    let page = root.join(PAGE);
    let text = fs::read_to_string(&page).map_err(|e| format!("{PAGE} cannot be read: {e}"))?;
    let text = replaced(&text, BEGIN, END, &rendered(&table))
        .ok_or_else(|| format!("{PAGE} has lost the lines around its table"))?;
    fs::write(&page, text).map_err(|e| format!("{PAGE} cannot be written: {e}"))
}

fn read(folder: &Path) -> Result<Table, String> {
    let mut table = Table::new();
    let files = fs::read_dir(folder)
        .map_err(|e| format!("no test has measured anything, run `cargo xtask test` first: {e}"))?;
    for file in files.filter_map(Result::ok) {
        let line = fs::read_to_string(file.path()).map_err(|e| e.to_string())?;
        add(&mut table, line.trim_end())
            .ok_or_else(|| format!("{} is not as the testbed writes it", file.path().display()))?;
    }
    Ok(table)
}

/// A line: number, fault, until, bound, engine, took.
fn add(table: &mut Table, line: &str) -> Option<()> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let (number, fault, until, bound) = (next()?.parse().ok()?, next()?, next()?, next()?.parse().ok()?);
    let (engine, took) = (next()?, next()?.parse().ok()?);
    let row = table.entry((number, fault.to_owned())).or_default();
    (row.until, row.bound) = (until.to_owned(), bound);
    match engine {
        "Sqlite" => row.sqlite = Some(took),
        "Postgres" => row.postgres = Some(took),
        _ => return None,
    }
    Some(())
}

fn rendered(table: &Table) -> String {
    let mut text = "| no. | fault | right again when | bound | SQLite, embedded | PostgreSQL, RabbitMQ |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    let rows = table.iter().map(|((number, fault), Row { until, bound, sqlite, postgres })| {
        let measured = |took: &Option<u64>| took.map_or_else(|| "–".to_owned(), seconds);
        let cells = [seconds(*bound), measured(sqlite), measured(postgres)].join(" | ");
        format!("| {number} | {fault} | {until} | {cells} |\n")
    });
    text.extend(rows);
    text
}

fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1_000, millis % 1_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_engines_measured_is_one_row() {
        let mut table = Table::new();
        for (engine, took) in [("Postgres", 1_250), ("Sqlite", 90)] {
            let line = format!("16\tconnections reset\tall issued\t5000\t{engine}\t{took}");
            assert_eq!(add(&mut table, &line), Some(()));
        }
        let last = rendered(&table).lines().last().map(str::to_owned);
        assert_eq!(last.as_deref(), Some("| 16 | connections reset | all issued | 5.0 s | 0.0 s | 1.2 s |"));
    }

    #[test]
    fn a_line_of_another_shape_is_refused() {
        for line in ["", "16\tfault", "x\ta\tb\t1\tSqlite\t1", "1\ta\tb\t1\tOracle\t1"] {
            assert_eq!(add(&mut Table::new(), line), None, "{line}");
        }
    }
}
