//! The binary: commands, configuration, wiring, signals, logs.
//!
//! The only crate that reads the environment, files, signals, the clock and the system's randomness; all
//! others get them as arguments.

mod ambient;
mod cli;
mod commands;
mod failure;
mod keyring_file;
mod note;
mod output;
mod roles;
mod settings;
mod shop;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::failure::{Exit, Failure};
use crate::output::Output;

fn main() -> ExitCode {
    let cli = Cli::parse();
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

/// What every command comes to.
type Outcome = Result<Exit, Failure>;
