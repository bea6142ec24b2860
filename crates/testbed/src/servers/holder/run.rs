//! Runs a command beside servers that are there for as long as it runs.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use crate::servers::held::Held;
use crate::servers::{Trouble, processes};

/// What shells add to the number of the signal that ended a command.
const SIGNALLED: i32 = 128;

/// The servers are held by a process of their own, whose standard input closes also when this one is killed.
pub(super) async fn run(line: Vec<OsString>) -> Result<ExitCode, Trouble> {
    let Some((program, arguments)) = line.split_first() else { return Err(Trouble::new("no command")) };
    let holder = std::env::current_exe().map_err(Trouble::during("the program's own path"))?;
    let held = tokio::task::spawn_blocking(move || Held::start(&holder, &[]));
    let held = held.await.map_err(Trouble::during("starting the servers"))??;
    let (mut interrupt, mut terminate) = (heard(SignalKind::interrupt())?, heard(SignalKind::terminate())?);
    let mut command = Command::new(program);
    command.args(arguments).envs(held.told().iter().map(|(name, value)| (name, value)));
    let mut child = command.spawn().map_err(Trouble::during(&program.to_string_lossy()))?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.map_err(Trouble::during("waiting for the command"))?,
            // The terminal sends it to the command as well, and it is the command's to answer.
            _ = interrupt.recv() => {}
            _ = terminate.recv() => processes::signal("TERM", child.id().as_slice()),
        }
    };
    Ok(code(status))
}

fn heard(kind: SignalKind) -> Result<tokio::signal::unix::Signal, Trouble> {
    signal(kind).map_err(Trouble::during("hearing signals"))
}

/// As a shell would say it.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_ended_by_a_signal_has_a_code_above_128() {
        let code_of = |raw| format!("{:?}", code(ExitStatus::from_raw(raw)));
        assert_eq!(code_of(9), format!("{:?}", ExitCode::from(137)));
        assert_eq!(code_of(3 << 8), format!("{:?}", ExitCode::from(3)));
    }
}
