//! The binary: commands, configuration, wiring, signals, logs.
//!
//! The only crate that reads the environment, files, signals, the clock and the system's randomness; all
//! others get them as arguments.

mod ambient;
mod cli;
mod commands;
mod failure;
mod file_chunks;
mod keyring_file;
mod note;
mod output;
mod roles;
mod settings;
mod shop;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// The whole program: reads the command line, does what it says, and says how it ended.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    let output = Output::new(cli.json);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::needs(format!("the runtime cannot start: {e}"), "see the system's limits"));
    let exit = runtime.and_then(|runtime| {
        let exit = runtime.block_on(commands::run(cli, output));
        // What is still blocked on a file must not keep the process.
        runtime.shutdown_background();
        exit
    });
    match exit {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output.failure(&failure);
            failure.exit().into()
        }
    }
}

/// A command line that cannot be read, or that asks for help. Under `--json` its fault is a problem object too.
fn misused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() || !std::env::args_os().any(|argument| argument == "--json") {
        error.exit();
    }
    let failure = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Failure::usage("the command is missing").with_remedy("`-h` lists them")
        }
        _ => {
            let text = error.to_string();
            let fault = text.split("\n\n").next().unwrap_or_default();
            Failure::usage(fault.strip_prefix("error: ").unwrap_or(fault).trim())
        }
    };
    Output::new(true).failure(&failure);
    failure.exit().into()
}

/// What every command comes to.
type Outcome = Result<Exit, Failure>;
