//! PostgreSQL and RabbitMQ for the tests: starts the testbed's holder, hears where they are, and ends it.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The command that does for a developer what this does for the gate; a command to run beside the servers follows.
pub(crate) const BESIDE: &str = "cargo run -p tessera-testbed --bin tessera-servers --";

/// The holder's last line before it serves.
const READY: &str = "ready";

/// The holder, and what it told. Its servers end with this, and also when this process is killed: they live for
/// as long as the holder's standard input is open.
#[derive(Debug)]
pub(crate) struct Servers {
    holder: Child,
    variables: Vec<(String, String)>,
}

impl Servers {
    /// Returns once the servers are there. The holder says on standard error which it chose, and bounds its waits.
    pub(crate) fn start() -> Result<Self, String> {
        let program = program().ok_or("the servers' holder was not built beside xtask")?;
        Self::start_program(&program)
    }

    fn start_program(program: &Path) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Not in our group, so that a Ctrl-C ends the tests before their servers.
        let started = command.process_group(0).spawn();
        let mut holder = started.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let stdout = holder.stdout.take();
        let mut servers = Self { holder, variables: Vec::new() };
        for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok)
        {
            if line == READY {
                return Ok(servers);
            }
            servers.variables.extend(line.split_once('=').map(|(name, value)| (name.into(), value.into())));
        }
        Err(format!(
            "no servers for the tests; the reason is above. Repeat it alone with:\n\n    {BESIDE} true"
        ))
    }

    /// What tests find in their environment: where the servers are, and how they were found.
    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        // The end of its standard input tells it to end its servers, which it does within a bound of its own.
        drop(self.holder.stdin.take());
        let _ended = self.holder.wait();
    }
}

/// Cargo puts all programs of one profile into one folder.
fn program() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.with_file_name("tessera-servers");
    beside.is_file().then_some(beside)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A holder that is a script, in a folder of its own; it leaves a file `ended` when its standard input closes.
    fn holder(name: &str, says: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tessera-xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let script = format!("#!/bin/sh\n{says}\ncat >/dev/null\n: >\"$(dirname \"$0\")/ended\"\n");
        let program = folder.join("holder");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    #[test]
    fn servers_are_told_of_and_end_with_their_user() {
        let program = holder("ends", "echo A=b=c; echo B=; echo ready");
        let servers = Servers::start_program(&program).unwrap();
        let told = [("A".to_owned(), "b=c".to_owned()), ("B".to_owned(), String::new())];
        assert_eq!(servers.variables(), told);
        let ended = program.with_file_name("ended");
        assert!(!ended.exists());
        drop(servers);
        assert!(ended.exists());
        fs::remove_dir_all(program.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_holder_that_finds_no_servers_is_a_failure_with_its_command() {
        let program = holder("fails", "exit 1");
        let failure = Servers::start_program(&program).unwrap_err();
        assert!(failure.contains("tessera-servers -- true"), "{failure}");
        fs::remove_dir_all(program.parent().unwrap()).unwrap();
    }
}
