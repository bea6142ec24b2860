//! The tools of the gate: which are here, and how to get the two it cannot do without.

use std::process::{Command, Stdio};

/// Makes sure that rustfmt and clippy are here, through rustup where it is; else the error is the remedy.
pub(crate) fn complete() -> Result<(), String> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if answers("cargo", &[subcommand, "--version"]) {
            continue;
        }
        let added = answers("rustup", &["--version"]) && add(component);
        if !added || !answers("cargo", &[subcommand, "--version"]) {
            return Err(missing(component));
        }
    }
    Ok(())
}

/// Whether the faster test runner is installed.
pub(crate) fn has_nextest() -> bool {
    answers("cargo", &["nextest", "--version"])
}

fn add(component: &str) -> bool {
    println!("{component} is missing; running `rustup component add {component}`");
    Command::new("rustup").args(["component", "add", component]).status().is_ok_and(|status| status.success())
}

fn missing(component: &str) -> String {
    format!(
        "`{component}` is missing and could not be added. Run `rustup component add {component}`, \
         or install your distribution's package of it for the Rust in use, then try again."
    )
}

/// Whether the program can be started and succeeds, whatever it prints.
fn answers(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_does_not_answer() {
        assert!(!answers("tessera-no-such-program", &[]));
    }

    #[test]
    fn a_subcommand_that_is_not_there_does_not_answer() {
        assert!(answers("cargo", &["--version"]));
        assert!(!answers("cargo", &["tessera-no-such-subcommand", "--version"]));
    }

    #[test]
    fn the_remedy_names_the_component() {
        assert!(missing("clippy").contains("rustup component add clippy"));
    }
}
