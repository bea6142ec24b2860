//! One program of a server: how it is started, and when it is there.

use std::fs::File;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Trouble;
use super::ready::Ready;

/// The longest a server may take to accept clients.
const START_MAX: Duration = Duration::from_mins(1);

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How many lines of a server's log tell why it did not start.
const SHOWN: usize = 12;

/// Whom a program runs as: user and group id.
pub(super) type User = (u32, u32);

/// A program, what it is told, and what shows that it runs.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// All of its environment.
    pub(super) environment: Vec<(&'static str, String)>,
    /// Where it works; its output goes to a file `log` there.
    pub(super) folder: PathBuf,
    /// Somebody else than we are.
    pub(super) user: Option<User>,
    pub(super) port: u16,
    pub(super) ready: Ready,
}

impl Launch {
    /// Starts it, and returns once it accepts clients.
    pub(super) async fn start(&self) -> Result<Child, Trouble> {
        let program = self.program.display();
        let mut child = self.command()?.spawn().map_err(Trouble::during(&format!("starting {program}")))?;
        let since = Instant::now();
        while !self.ready.holds(&Ipv4Addr::LOCALHOST.to_string(), self.port).await {
            let ended = child.try_wait().map_err(Trouble::during("waiting"))?;
            if ended.is_some() || since.elapsed() > START_MAX {
                let how = if ended.is_some() { "ended" } else { "is not ready in time" };
                return Err(Trouble::new(format!("{program} {how}:\n{}", self.last_lines())));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(child)
    }

    /// Runs it to its end, which has to be good.
    pub(super) async fn run(&self) -> Result<(), Trouble> {
        let program = self.program.display();
        let mut command = tokio::process::Command::from(self.command()?);
        let status = tokio::time::timeout(START_MAX, command.kill_on_drop(true).status()).await;
        match status {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(_)) => Err(Trouble::new(format!("{program} failed:\n{}", self.last_lines()))),
            Ok(Err(error)) => Err(Trouble::new(format!("starting {program}: {error}"))),
            Err(_) => Err(Trouble::new(format!("{program} does not end"))),
        }
    }

    fn command(&self) -> Result<Command, Trouble> {
        let log = self.log();
        let file = File::options().create(true).append(true).open(&log);
        let file = file.map_err(Trouble::during(&log.display().to_string()))?;
        let again = file.try_clone().map_err(Trouble::during("the log"))?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().envs(self.environment.iter().cloned());
        command.current_dir(&self.folder).stdin(Stdio::null()).stdout(file).stderr(again);
        // A group of its own, so that a Ctrl-C in the terminal is the holder's to answer.
        command.process_group(0);
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        Ok(command)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn last_lines(&self) -> String {
        last_lines(&self.log())
    }
}

fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.get(lines.len().saturating_sub(SHOWN)..).unwrap_or_default();
    shown.join("\n")
}
