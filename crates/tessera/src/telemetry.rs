//! Logs: on standard error, text or JSON, coloured on a terminal only.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::failure::Failure;
use crate::settings::Log;

/// Refuses what [`start`] would.
pub(crate) fn check(log: &Log) -> Result<(), Failure> {
    filter(log)?;
    match log.format.as_str() {
        "text" | "json" => Ok(()),
        _ => Err(Failure::usage("log.format is neither text nor json").with_remedy("give one of them")),
    }
}

fn filter(log: &Log) -> Result<EnvFilter, Failure> {
    EnvFilter::try_new(&log.filter)
        .map_err(|e| Failure::usage(format!("log.filter is wrong: {e}")).with_remedy("give one such as info"))
}

/// Starts logging.
pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    check(log)?;
    let base = tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter(log)?);
    let started = match log.format.as_str() {
        "json" => base.json().try_init(),
        _ => base.with_ansi(std::io::stderr().is_terminal()).try_init(),
    };
    started.map_err(|e| Failure::no(format!("logging cannot start: {e}")))
}
