//! Developer tasks: `cargo xtask test` is the whole gate, `cargo xtask tidy` the house rules alone.
//!
//! Standard library only, so that it compiles in a second before anything else does.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer's tool talks to its terminal")]

mod args;
mod breaks;
mod page;
mod reliability;
mod servers;
mod stages;
mod tidy;
mod toolchain;

use std::path::PathBuf;
use std::process::ExitCode;

use args::Task;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args::parse(&words) {
        Ok(Task::Help) => {
            print!("{}", args::HELP);
            return ExitCode::SUCCESS;
        }
        Ok(Task::Test { filters }) => stages::run(&root(), &filters),
        Ok(Task::Breaks { check }) => {
            stages::prepared(&root()).and_then(|()| breaks::run(&root(), toolchain::has_nextest(), check))
        }
        Ok(Task::Reliability) => reliability::run(&root()),
        Ok(Task::Tidy) => tidy::run(&root()),
        Err(refusal) => {
            eprint!("{refusal}\n\n{}", args::HELP);
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\n{failure}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's folder: two above this crate's own.
fn root() -> PathBuf {
    let crate_folder =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    PathBuf::from(crate_folder).join("../..")
}
