//! Logs: on standard error, text or JSON, coloured on a terminal only.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::failure::Failure;
use crate::settings::Log;

/// Starts logging.
pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(&log.filter).map_err(|e| {
        Failure::usage(format!("log.filter is wrong: {e}")).with_remedy("give one such as info")
    })?;
    let base = tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter);
    let started = match log.format.as_str() {
        "text" => base.with_ansi(std::io::stderr().is_terminal()).try_init(),
        "json" => base.json().try_init(),
        _ => return Err(Failure::usage("log.format is neither text nor json".to_owned())),
    };
    started.map_err(|e| Failure::no(format!("logging cannot start: {e}")))
}
