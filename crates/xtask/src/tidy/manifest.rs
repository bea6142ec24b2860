//! Just enough TOML to read the dependencies of a Cargo.toml.

/// One key of a manifest, with the section it stands in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'text> {
    /// The line the key stands on, from 1.
    pub(super) line: usize,
    pub(super) section: &'text str,
    pub(super) key: &'text str,
    pub(super) value: String,
    /// What follows the value after a `#`.
    pub(super) comment: Option<&'text str>,
}

impl Entry<'_> {
    /// Whether it is a normal dependency, of every target or of one; not one of tests or of a build script.
    pub(super) fn is_dependency(&self) -> bool {
        self.section == "dependencies"
            || self.section.starts_with("target.") && self.section.ends_with(".dependencies")
    }

    /// The package depended on, whatever the crate calls it.
    pub(super) fn package(&self) -> &str {
        let renamed = self.value.split_once("package").and_then(|(_, after)| after.split('"').nth(1));
        renamed.unwrap_or(self.key)
    }
}

/// Reads the entries in order. A table of its own, `[dependencies.axum]`, reads as the entry `axum` of `dependencies`.
pub(super) fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut section = "";
    let mut open = 0_usize;
    for (line, text) in (1..).zip(text.lines()) {
        let (body, comment) = split_comment(text);
        let body = body.trim();
        if let (true, Some(entry)) = (open > 0, entries.last_mut()) {
            // A value over several lines gives its reason on any of them.
            entry.value.push_str(body);
            entry.comment = entry.comment.or(comment);
        } else if let Some(name) = body.strip_prefix('[') {
            section = name.trim_matches(['[', ']']);
            if let Some((table, key)) =
                section.rsplit_once('.').filter(|(table, _)| table.ends_with("dependencies"))
            {
                entries.push(Entry { line, section: table, key, value: String::new(), comment });
            }
            continue;
        } else if let Some((key, value)) = body.split_once('=') {
            let key = key.split('.').next().unwrap_or_default().trim().trim_matches('"');
            entries.push(Entry { line, section, key, value: value.trim().to_owned(), comment });
        } else {
            continue;
        }
        open = (open + brackets(body, &['[', '{'])).saturating_sub(brackets(body, &[']', '}']));
    }
    entries
}

fn split_comment(line: &str) -> (&str, Option<&str>) {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (letter, quote) {
            ('#', None) => return (line.get(..at).unwrap_or_default(), line.get(at + 1..).map(str::trim)),
            ('"' | '\'', None) => quote = Some(letter),
            (_, Some(open)) if letter == open => quote = None,
            _ => {}
        }
    }
    (line, None)
}

fn brackets(body: &str, kind: &[char]) -> usize {
    body.matches(kind).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
[package]
name = "tessera-api" # the name

[dependencies]
axum.workspace = true
sqlx = { workspace = true, features = [
    "sqlite", # one engine
] }
router = { package = "axum", version = "0.8" }

[dependencies.hyper]
version = "1"

[target.'cfg(unix)'.dependencies]
libc = "0.2"

[dev-dependencies]
tower.workspace = true
"#;

    #[test]
    fn dependencies_are_told_from_the_rest() {
        let entries = entries(MANIFEST);
        let packages: Vec<(usize, &str)> = entries
            .iter()
            .filter(|entry| entry.is_dependency())
            .map(|entry| (entry.line, entry.package()))
            .collect();
        assert_eq!(packages, [(6, "axum"), (7, "sqlx"), (10, "axum"), (12, "hyper"), (16, "libc")]);
    }

    #[test]
    fn a_comment_belongs_to_its_entry() {
        let entries = entries(MANIFEST);
        let comment = |key| entries.iter().find(|entry| entry.key == key).and_then(|entry| entry.comment);
        assert_eq!(
            (comment("name"), comment("sqlx"), comment("axum")),
            (Some("the name"), Some("one engine"), None)
        );
    }

    #[test]
    fn a_hash_in_a_string_is_no_comment() {
        assert_eq!(split_comment(r##"a = "#b" # c"##), (r##"a = "#b" "##, Some("c")));
    }
}
