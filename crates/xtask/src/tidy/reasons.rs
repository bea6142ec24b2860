//! Dependencies: each of the workspace's gives its reason on its own line.

use super::Problem;
use super::manifest::{Entry, entries};
use super::tree::Tree;

const MANIFEST: &str = "Cargo.toml";

pub(super) fn dependencies_give_theirs(tree: &Tree) -> Vec<Problem> {
    let entries = tree.file(MANIFEST).map(|file| entries(&file.text)).unwrap_or_default();
    let problem = |entry: &Entry<'_>| {
        let remedy = "end the line with `# what it is for`";
        Problem::new(MANIFEST, entry.line, format!("`{}` without a reason", entry.key), remedy)
    };
    entries.iter().filter(|entry| lacks_reason(entry)).map(problem).collect()
}

/// Our own crates give their reason in their descriptions.
fn lacks_reason(entry: &Entry<'_>) -> bool {
    let outside = entry.section == "workspace.dependencies" && !entry.value.contains("path =");
    outside && entry.comment.is_none_or(str::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_without_a_reason_is_a_problem() {
        let text = "[workspace.dependencies]\n\
                    tessera-model = { path = \"crates/model\" }\n\
                    serde = \"1\" # wire types\n\
                    toml = \"1\"\n\
                    time = \"0.3\" #\n\
                    [workspace.lints.rust]\n\
                    unsafe_code = \"forbid\"\n";
        let problems = dependencies_give_theirs(&Tree::of(&[("Cargo.toml", text)]));
        let found: Vec<String> = problems.into_iter().map(|problem| problem.wrong).collect();
        assert_eq!(found, ["`toml` without a reason", "`time` without a reason"]);
    }
}
