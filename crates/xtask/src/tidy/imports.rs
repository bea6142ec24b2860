//! Import rules that Cargo.toml files show: imports point one way, and big libraries stay where they belong.

use super::Problem;
use super::manifest::{Entry, entries};
use super::tree::{File, Tree};

/// The product's crates, in the order of the house, and the ones each may depend on.
const LAYERS: &[(&str, &[&str])] = &[
    ("faults", &[]),
    ("model", &[]),
    ("store", &["faults", "model"]),
    ("store-postgres", &["model", "store"]),
    ("store-sqlite", &["model", "store"]),
    ("broker", &["faults"]),
    ("orders", &["faults", "model", "store", "broker"]),
    ("issuer", &["faults", "model", "store", "broker"]),
    ("courier", &["faults", "model", "store", "broker"]),
    ("backoffice", &["model", "store", "broker", "orders", "issuer"]),
    ("api", &["faults", "model", "store", "broker", "orders", "issuer", "courier", "backoffice"]),
    ("web", &["model", "store", "broker", "orders", "courier", "backoffice", "api"]),
    (
        "tessera",
        &[
            "faults",
            "model",
            "store",
            "store-postgres",
            "store-sqlite",
            "broker",
            "orders",
            "issuer",
            "courier",
            "backoffice",
            "api",
            "web",
        ],
    ),
];

/// Crates around the product; they may depend on anything, and no crate of the product on them.
pub(super) const AROUND: &[&str] = &["testbed", "bench", "xtask", "tests"];

/// Libraries that shape what they touch, and the product's crates that may name them.
const KEPT: &[(&str, &[&str])] = &[
    ("sqlx", &["store-postgres", "store-sqlite"]),
    ("libsqlite3-sys", &["store-sqlite"]),
    ("lapin", &["broker"]),
    ("axum", &["api", "web", "tessera"]),
];

/// What the model must do without: async, IO, serde, logs.
const NOT_IN_MODEL: &[&str] = &["tokio", "async-trait", "futures-util", "serde", "serde_json", "tracing"];

pub(super) fn crates_point_one_way(tree: &Tree) -> Vec<Problem> {
    manifests(tree).flat_map(|(folder, file)| wrong_ways(folder, file)).collect()
}

fn wrong_ways(folder: &str, file: &File) -> Vec<Problem> {
    let Some((_, may)) = LAYERS.iter().find(|(name, _)| *name == folder) else {
        let remedy = "add it to the tables of tidy/imports.rs, and to the documentation of the house";
        return vec![Problem::new(
            &file.path,
            1,
            format!("crate `{folder}` has no place in the house"),
            remedy,
        )];
    };
    let ours = |entry: &Entry<'_>| {
        entry.package().strip_prefix("tessera-").map(|name| (entry.line, name.to_owned()))
    };
    let problem = |(line, name): (usize, String)| {
        let remedy = format!("{folder} may depend on {}: move the code to where it may be used", list(may));
        Problem::new(&file.path, line, format!("{folder} depends on {name}"), remedy)
    };
    dependencies(file)
        .iter()
        .filter_map(ours)
        .filter(|(_, name)| !may.contains(&name.as_str()))
        .map(problem)
        .collect()
}

pub(super) fn libraries_stay_in_their_crates(tree: &Tree) -> Vec<Problem> {
    manifests(tree).flat_map(|(folder, file)| strays(folder, file)).collect()
}

fn strays(folder: &str, file: &File) -> Vec<Problem> {
    let remedy = |package: &str| {
        if folder == "model" && NOT_IN_MODEL.contains(&package) {
            return Some("the model is pure: decide there, do it in a crate above".to_owned());
        }
        let (_, may) = KEPT.iter().find(|(name, _)| *name == package)?;
        (!may.contains(&folder)).then(|| format!("only {} may: call one of them", list(may)))
    };
    let problem = |entry: &Entry<'_>| {
        let package = entry.package();
        Some(Problem::new(&file.path, entry.line, format!("{folder} depends on {package}"), remedy(package)?))
    };
    dependencies(file).iter().filter_map(problem).collect()
}

/// The manifests of the product's crates, each with its crate's folder.
fn manifests(tree: &Tree) -> impl Iterator<Item = (&str, &File)> {
    let crates = tree.files().iter().filter_map(|file| Some((file.crate_folder()?, file)));
    crates.filter(|(folder, file)| {
        !AROUND.contains(folder) && file.path == format!("crates/{folder}/Cargo.toml")
    })
}

fn dependencies(file: &File) -> Vec<Entry<'_>> {
    let mut entries = entries(&file.text);
    entries.retain(Entry::is_dependency);
    entries
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "no crate of ours".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depending(folder: &str, packages: &[&str]) -> (String, String) {
        let lines: Vec<String> =
            packages.iter().map(|package| format!("{package}.workspace = true")).collect();
        (format!("crates/{folder}/Cargo.toml"), format!("[dependencies]\n{}\n", lines.join("\n")))
    }

    fn wrong(check: fn(&Tree) -> Vec<Problem>, folder: &str, packages: &[&str]) -> Vec<String> {
        let (path, text) = depending(folder, packages);
        check(&Tree::of(&[(&path, &text)])).into_iter().map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn a_lower_crate_does_not_depend_on_a_higher_one() {
        let problems = wrong(crates_point_one_way, "store", &["tessera-model", "tessera-orders"]);
        let expected = "crates/store/Cargo.toml:3: store depends on orders; \
                        store may depend on faults, model: move the code to where it may be used";
        assert_eq!(problems, [expected]);
    }

    #[test]
    fn the_issuer_does_not_depend_on_the_api_nor_the_product_on_the_testbed() {
        assert_eq!(wrong(crates_point_one_way, "issuer", &["tessera-api", "tessera-store"]).len(), 1);
        assert_eq!(wrong(crates_point_one_way, "tessera", &["tessera-testbed", "tessera-issuer"]).len(), 1);
        assert_eq!(wrong(crates_point_one_way, "bench", &["tessera-testbed"]), [""; 0]);
    }

    #[test]
    fn a_crate_unknown_to_the_house_is_a_problem() {
        assert_eq!(wrong(crates_point_one_way, "helpers", &[]).len(), 1);
    }

    #[test]
    fn the_table_lists_lower_crates_first() {
        for (position, (_, may)) in LAYERS.iter().enumerate() {
            let below: Vec<&str> = LAYERS.iter().take(position).map(|(name, _)| *name).collect();
            assert!(may.iter().all(|name| below.contains(name)));
        }
    }

    #[test]
    fn a_kept_library_does_not_stray() {
        for (folder, package) in
            [("orders", "sqlx"), ("courier", "lapin"), ("backoffice", "axum"), ("model", "serde")]
        {
            assert_eq!(
                wrong(libraries_stay_in_their_crates, folder, &["rand", package]).len(),
                1,
                "{folder}"
            );
        }
        for (folder, package) in
            [("store-sqlite", "sqlx"), ("broker", "lapin"), ("tessera", "axum"), ("tests", "sqlx")]
        {
            assert_eq!(wrong(libraries_stay_in_their_crates, folder, &[package]), [""; 0], "{folder}");
        }
    }
}
