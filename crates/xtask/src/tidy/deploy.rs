//! Deployment files: every setting that they name is one of the binary's.

use std::collections::BTreeSet;

use super::Problem;
use super::manifest::entries;
use super::tree::{File, Tree};

/// Every setting with its default.
const SETTINGS: &str = "crates/tessera/src/config.default.toml";

/// What the name of a setting begins with in the environment.
const PREFIX: &str = "TESSERA_";

pub(super) fn settings_exist(tree: &Tree) -> Vec<Problem> {
    let known = tree.file(SETTINGS).map(|file| known(&file.text)).unwrap_or_default();
    let files = tree.files().iter().filter(|file| file.path.starts_with("deploy/"));
    files.flat_map(|file| unknown(file, &known)).collect()
}

/// `[http] listen` is `TESSERA_HTTP__LISTEN`, `[payments.test] enabled` is `TESSERA_PAYMENTS__TEST__ENABLED`.
fn known(settings: &str) -> BTreeSet<String> {
    let name = |section: &str, key: &str| {
        let path = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
        format!("{PREFIX}{}", path.replace('.', "__").to_uppercase())
    };
    entries(settings).iter().map(|entry| name(entry.section, entry.key)).collect()
}

fn unknown(file: &File, known: &BTreeSet<String>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in (1..).zip(file.text.lines()) {
        let strange = names(text).filter(|name| !known.contains(*name));
        problems.extend(strange.map(|name| {
            let remedy = format!("write one of {SETTINGS}");
            Problem::new(&file.path, line, format!("the unknown setting `{name}`"), remedy)
        }));
    }
    problems
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    let part_of_name = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    text.split(move |letter| !part_of_name(letter)).filter(|word| word.starts_with(PREFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &str = "data_dir = \"a\"\n[http]\nlisten = \"b\"\n[payments.test]\nenabled = false\n";

    fn wrong(text: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[(SETTINGS, KNOWN), ("deploy/compose.yaml", text)]);
        settings_exist(&tree).into_iter().map(|problem| (problem.line, problem.wrong)).collect()
    }

    #[test]
    fn every_setting_is_known_by_its_name_in_the_environment() {
        let all = "TESSERA_DATA_DIR: a\nTESSERA_HTTP__LISTEN=b TESSERA_PAYMENTS__TEST__ENABLED: ${C}\n";
        assert_eq!(wrong(all), []);
    }

    #[test]
    fn a_name_that_is_no_setting_is_a_problem() {
        let problem = |name: &str| vec![(2, format!("the unknown setting `{name}`"))];
        assert_eq!(wrong("\nTESSERA_HTTP_LISTEN: a"), problem("TESSERA_HTTP_LISTEN"));
        assert_eq!(wrong("\n- TESSERA_LISTEN=a"), problem("TESSERA_LISTEN"));
    }
}
