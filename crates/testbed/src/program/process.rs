//! A process of the program: what it prints, and how it ends.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a process that cannot be run fails its test")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

use super::{PATIENCE, Said};

mod watching;

/// How often a process that runs is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The longest any one command may take.
const COMMAND_MAX: Duration = Duration::from_mins(4);

/// A process; killed when it is dropped.
pub struct Process {
    child: Child,
    stdout: watch::Receiver<String>,
    stderr: Said,
    readers: Vec<JoinHandle<()>>,
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said on standard error.
    pub stderr: String,
    /// How long it took from being told to end, or waited for.
    pub took: Duration,
    /// The most memory it was seen to have, in KiB.
    pub memory_kib_max: u64,
}

impl Ended {
    /// Its standard output, which has to be one JSON document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.stdout, self.stderr))
    }
}

impl Process {
    pub(super) fn spawn(mut line: Command, all: Said) -> Self {
        let mut child = line.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let (sender, stdout) = watch::channel(String::new());
        let (out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let mut out = BufReader::new(out);
        let stderr = Said::default();
        let own = stderr.clone();
        let print = std::thread::spawn(move || {
            let mut line = Vec::new();
            while out.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                let text = String::from_utf8_lossy(&line).into_owned();
                sender.send_modify(|printed| printed.push_str(&text));
                line.clear();
            }
        });
        let say = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count) = err.read(&mut chunk)
                && count > 0
            {
                let text = String::from_utf8_lossy(&chunk[..count]);
                own.add(&text);
                all.add(&text);
            }
        });
        Self { child, stdout, stderr, readers: vec![print, say] }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it printed so far.
    pub fn stdout(&self) -> String {
        self.stdout.borrow().clone()
    }

    /// Waits until it has printed this line.
    pub async fn until_line(&self, wanted: &str) {
        let printed = self.prints(wanted).await;
        assert!(printed, "the process ended without the line {wanted}: {}", self.stderr.text());
    }

    /// Waits until it is ready; false if it ended first.
    pub async fn until_ready_or_ended(&self) -> bool {
        self.prints("ready").await
    }

    /// Waits for a line; false if it ended first, which closes what it prints to.
    async fn prints(&self, wanted: &str) -> bool {
        let mut stdout = self.stdout.clone();
        let printed = stdout.wait_for(|printed| printed.lines().any(|line| line == wanted));
        timeout(PATIENCE, printed).await.expect("the line is printed in time").is_ok()
    }

    /// Waits until it stands still by a signal of its own.
    pub async fn until_frozen(&self) {
        let stat = format!("/proc/{}/stat", self.id());
        // After its name in brackets comes the letter of its state.
        let frozen = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "));
        let standing = async {
            while !frozen() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, standing).await.expect("it stands still in time");
    }

    /// SIGKILL: it gets no chance to do anything.
    pub async fn kill9(mut self) {
        self.child.kill().unwrap();
        self.end(Instant::now()).await;
    }

    /// SIGTERM, and waits for its end.
    pub async fn terminate(self) -> Ended {
        self.signal_terminate();
        self.ended().await
    }

    /// SIGTERM.
    pub fn signal_terminate(&self) {
        self.signal("-TERM");
    }

    /// SIGSTOP: it keeps everything it holds and does nothing.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// SIGCONT, after [`Process::freeze`].
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let told = Command::new("kill").args([signal, &self.id().to_string()]).status().unwrap();
        assert!(told.success(), "the process cannot be sent {signal}");
    }

    /// Waits for its end.
    pub async fn ended(mut self) -> Ended {
        self.end(Instant::now()).await
    }

    async fn end(&mut self, since: Instant) -> Ended {
        let mut memory_kib_max = 0;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            memory_kib_max = memory_kib_max.max(self.memory_kib());
            assert!(since.elapsed() < COMMAND_MAX, "the process does not end: {}", self.stderr.text());
            tokio::time::sleep(LOOK_EVERY).await;
        };
        let took = since.elapsed();
        for reader in self.readers.drain(..) {
            reader.join().unwrap();
        }
        Ended { code: status.code(), stdout: self.stdout(), stderr: self.stderr.text(), took, memory_kib_max }
    }

    /// `VmHWM`: the most memory it has had, in KiB.
    fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and does not mind.
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}
