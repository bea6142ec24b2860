//! Sizes: a file is read in one sitting, a command at a glance.

use super::Problem;
use super::tree::{File, Tree};

const LINES_MAX: usize = 500;
const PRODUCTION_LINES_MAX: usize = 300;
const COMMAND_LINES_MAX: usize = 150;

const COMMANDS: &str = "crates/tessera/src/commands/";

/// Files that may pass [`PRODUCTION_LINES_MAX`], each with its reason.
const LONG_FOR_A_REASON: &[(&str, &str)] = &[];

pub(super) fn files_are_short(tree: &Tree) -> Vec<Problem> {
    let too_long = tree.rust().filter_map(|file| too_long(file, LONG_FOR_A_REASON));
    too_long.chain(stale(tree, LONG_FOR_A_REASON)).collect()
}

fn too_long(file: &File, excused: &[(&str, &str)]) -> Option<Problem> {
    let (lines, production) = (file.text.lines().count(), file.production_lines());
    let (counted, max, kind, remedy) = if lines > LINES_MAX {
        (lines, LINES_MAX, "lines", "split it by what its parts are about")
    } else if file.path.starts_with(COMMANDS) && production > COMMAND_LINES_MAX {
        (production, COMMAND_LINES_MAX, "lines of a command", "move the work into the crate that owns it")
    } else if production > PRODUCTION_LINES_MAX && !excused.iter().any(|(path, _)| *path == file.path) {
        (
            production,
            PRODUCTION_LINES_MAX,
            "production lines",
            "split it, or list it in tidy/sizes.rs with the reason",
        )
    } else {
        return None;
    };
    Some(Problem::new(&file.path, max + 1, format!("{counted} {kind}, of at most {max}"), remedy))
}

/// An excuse outlives its file's length only by mistake.
fn stale(tree: &Tree, excused: &[(&str, &str)]) -> Vec<Problem> {
    let needless =
        |path: &str| tree.file(path).is_none_or(|file| file.production_lines() <= PRODUCTION_LINES_MAX);
    let problem =
        |path| Problem::new(path, 1, "excused for its length without need", "drop it from tidy/sizes.rs");
    excused.iter().map(|(path, _)| *path).filter(|path| needless(path)).map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(path: &str, text: &str) -> Vec<String> {
        files_are_short(&Tree::of(&[(path, text)])).into_iter().map(|problem| problem.wrong).collect()
    }

    #[test]
    fn a_file_of_more_than_500_lines_is_too_long_even_if_all_tests() {
        assert_eq!(wrong("crates/model/src/a/tests.rs", &"a\n".repeat(501)), ["501 lines, of at most 500"]);
        assert_eq!(wrong("crates/model/src/a/tests.rs", &"a\n".repeat(500)), [""; 0]);
    }

    #[test]
    fn more_than_300_production_lines_are_too_many() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "a\n".repeat(100));
        let file = |lines| format!("{}{tests}", "a\n".repeat(lines));
        assert_eq!(wrong("crates/model/src/a.rs", &file(301)), ["301 production lines, of at most 300"]);
        assert_eq!(wrong("crates/model/src/a.rs", &file(300)), [""; 0]);
    }

    #[test]
    fn a_command_has_150_lines() {
        let path = "crates/tessera/src/commands/serve.rs";
        assert_eq!(wrong(path, &"a\n".repeat(151)), ["151 lines of a command, of at most 150"]);
        assert_eq!(wrong("crates/tessera/src/lifecycle.rs", &"a\n".repeat(151)), [""; 0]);
    }

    #[test]
    fn an_excuse_holds_while_it_is_needed() {
        let excused = [("crates/model/src/a.rs", "one table"), ("crates/model/src/b.rs", "one table")];
        let long = "a\n".repeat(301);
        let tree = Tree::of(&[("crates/model/src/a.rs", long.as_str()), ("crates/model/src/b.rs", "a\n")]);
        assert!(tree.rust().all(|file| too_long(file, &excused).is_none()));
        let stale: Vec<String> = stale(&tree, &excused).into_iter().map(|problem| problem.path).collect();
        assert_eq!(stale, ["crates/model/src/b.rs"]);
    }
}
