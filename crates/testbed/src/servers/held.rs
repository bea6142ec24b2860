//! The other end of the holder: what starts it, hears where the servers are, and ends it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use super::Trouble;

/// The longest the servers may take to be there: two images pulled, then two packages installed.
const READY_MAX: Duration = Duration::from_mins(20);

/// The longest one order may take: a start of a server, with some room.
const ORDER_MAX: Duration = Duration::from_mins(3);

/// More lines than a holder ever prints without being asked.
const LINES_MAX: usize = 64;

/// A holder. Its servers end with it, and it ends with this, or with the process that has this.
#[derive(Debug)]
pub(super) struct Held {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    told: Vec<(String, String)>,
}

impl Held {
    /// Starts a holder; returns once its servers are there.
    pub(super) fn start(program: &Path, arguments: &[&str]) -> Result<Self, Trouble> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A group of its own: a signal to ours must not end the servers before what uses them.
        let started = command.process_group(0).spawn();
        let mut child = started.map_err(Trouble::during(&program.display().to_string()))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (sender, lines) = sync_channel(LINES_MAX);
        std::thread::spawn(move || {
            let lines = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut held = Self { child, stdin, lines, told: Vec::new() };
        held.told = held.until_ready()?;
        Ok(held)
    }

    /// What it printed before it was ready, as names and values.
    pub(super) fn told(&self) -> &[(String, String)] {
        &self.told
    }

    fn until_ready(&self) -> Result<Vec<(String, String)>, Trouble> {
        let mut told = Vec::new();
        loop {
            let line = self.lines.recv_timeout(READY_MAX);
            match line.map_err(|_| Trouble::new("the servers did not start; see above"))?.split_once('=') {
                Some((name, value)) => told.push((name.to_owned(), value.to_owned())),
                None => return Ok(told),
            }
        }
    }

    /// Gives an order and waits until it is done.
    pub(super) fn order(&mut self, word: &str) -> Result<(), Trouble> {
        let gone = || Trouble::new("the holder of the server has ended");
        let stdin = self.stdin.as_mut().ok_or_else(gone)?;
        writeln!(stdin, "{word}").map_err(|_| gone())?;
        match self.lines.recv_timeout(ORDER_MAX).map_err(|_| gone())?.as_str() {
            "done" => Ok(()),
            refusal => Err(Trouble::new(refusal)),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The end of its standard input tells it to end its servers, which it does within a bound of its own.
        drop(self.stdin.take());
        let _ended = self.child.wait();
    }
}
