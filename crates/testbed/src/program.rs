//! The real program, run as people run it: its commands and its server, over a folder of its own.
//!
//! What the processes say on standard error is kept for the whole test and shown when the test fails. At the
//! end, [`Program::close`] asks `tessera reconcile`, and looks through what was said: no code, token, key or
//! address of a buyer may be in it.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a program that cannot be run fails its test, and says what it was told"
)]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

mod answer;
mod client;
mod engine;
mod events;
mod looking;
mod machine;
mod process;
mod seen;
mod usage;

pub use answer::{Answer, Receipt};
pub use client::{Asked, Away, Client, answered};
pub use engine::Servers;
pub use events::{Events, OrderEvent};
pub(crate) use machine::built;
pub use machine::{binary, free_address, strace_works};
pub use process::{Ended, Process};
pub use seen::Seen;
pub use usage::raise_descriptors;

/// The longest a test waits for anything before it fails.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// The most lines of what processes said that a failed test shows.
const SHOWN: usize = 60;

/// In every code that tests import, so that one in a log is found.
pub const CODE_MARK: &str = "E2ECARD";

/// The domain of every buyer's address.
pub const MAIL_DOMAIN: &str = "buyers.test";

/// What processes said on standard error.
#[derive(Clone, Default)]
pub(crate) struct Said(Arc<Mutex<String>>);

impl Said {
    pub(crate) fn add(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
    }

    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The program and its folder. Has to be closed: see [`Program::close`].
pub struct Program {
    folder: TempDir,
    listen: SocketAddr,
    settings: Vec<(String, String)>,
    said: Said,
    seen: Seen,
    servers: Option<Servers>,
    closed: AtomicBool,
}

impl Program {
    /// On the embedded engine, for that is the default of everything.
    fn bare() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the program");
        let listen = free_address();
        let settings = vec![
            ("TESSERA_DATA_DIR".to_owned(), folder.path().join("data").display().to_string()),
            ("TESSERA_HTTP__LISTEN".to_owned(), listen.to_string()),
            ("TESSERA_PAYMENTS__TEST__ENABLED".to_owned(), "true".to_owned()),
        ];
        let (said, seen) = (Said::default(), Seen::default());
        Self { folder, listen, settings, said, seen, servers: None, closed: AtomicBool::new(false) }
    }

    /// Sets a setting in the environment of every process, such as `PAYMENTS__HMAC__SECRET`.
    #[must_use]
    pub fn with(mut self, setting: &str, value: &str) -> Self {
        let name = format!("TESSERA_{setting}");
        self.settings.retain(|(known, _)| *known != name);
        self.settings.push((name, value.to_owned()));
        self
    }

    /// The folder in which commands run; the data folder is in it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Where the server listens.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// What buyers have been told so far.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// A client of the server, with connections of its own.
    pub fn client(&self) -> Client {
        Client::new(self.listen, self.seen.clone())
    }

    /// A client of what else listens.
    pub fn client_of(&self, listen: SocketAddr) -> Client {
        Client::new(listen, self.seen.clone())
    }

    /// Writes a file beside the data folder.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The command line, under this program's settings and no other.
    pub fn line(&self, arguments: &[&str]) -> Command {
        match std::env::var_os("TEST_BREAK").is_some() {
            true => self.line_faulty(&[], arguments),
            false => self.line_of(&binary(), arguments),
        }
    }

    /// The command line of the program with fault points, under such variables as `TEST_FAULT`: see `tessera_faults`.
    pub fn line_faulty(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
        let mut line = self.line_of(&machine::faulty(), arguments);
        line.envs(variables.iter().copied());
        line.envs(std::env::var_os("TEST_BREAK").map(|way| ("TEST_BREAK", way)));
        line
    }

    fn line_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut line = Command::new(program);
        line.args(arguments).current_dir(self.folder.path()).env_clear().stdin(Stdio::null());
        line.envs(self.settings.iter().map(|(name, value)| (name, value)));
        line
    }

    /// Starts a command and does not wait for it.
    pub fn start(&self, arguments: &[&str]) -> Process {
        Process::spawn(self.line(arguments), self.said.clone())
    }

    /// Starts a given command line and does not wait for it.
    pub fn start_line(&self, line: Command) -> Process {
        Process::spawn(line, self.said.clone())
    }

    /// Runs a command to its end.
    pub async fn command(&self, arguments: &[&str]) -> Ended {
        self.start(arguments).ended().await
    }

    /// Runs a command under one more setting, or another value of one.
    pub async fn command_with(&self, setting: (&str, &str), arguments: &[&str]) -> Ended {
        let mut line = self.line(arguments);
        line.env(format!("TESSERA_{}", setting.0), setting.1);
        self.start_line(line).ended().await
    }

    /// Runs a command that has to succeed, under `--json`; returns its document.
    pub async fn json(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["--json"];
        all.extend(arguments);
        let ended = self.command(&all).await;
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        let document = ended.json();
        self.seen.note(&document);
        document
    }

    /// Serves; returns once the server is ready.
    pub async fn serve(&self) -> Process {
        let server = self.start(&["serve"]);
        server.until_line("ready").await;
        server
    }

    /// Applies products, given as JSON.
    pub async fn products(&self, products: &Value) {
        let file = self.file("products.json", products.to_string());
        self.json(&["products", "apply", &file]).await;
    }

    /// Puts `count` new codes of a product on sale; returns them in the order of the file.
    pub async fn stock(&self, sku: &str, count: usize) -> Vec<String> {
        let codes = codes(sku, count);
        let file = self.file(&format!("{sku}.txt"), codes.join("\n"));
        let report = self.json(&["codes", "import", &file, "--sku", sku]).await;
        assert_eq!(report["imported"], Value::from(count), "{report}");
        codes
    }

    /// Runs a command that has to fail with this code, under `--json`; returns the problem it prints, alone.
    pub async fn problem(&self, arguments: &[&str], code: i32) -> Value {
        let mut all = vec!["--json"];
        all.extend(arguments);
        let ended = self.command(&all).await;
        assert_eq!(ended.code, Some(code), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        let problem = ended.json();
        let kind = problem["type"].as_str().unwrap_or_default();
        assert!(kind.starts_with("urn:tessera:problem:"), "{arguments:?}: {problem}");
        assert!(problem["title"].is_string() && problem["status"].is_u64() && problem["detail"].is_string());
        problem
    }

    /// Stops the server, which has to end well, and closes the program.
    pub async fn close(self, server: Process) {
        let ended = server.terminate().await;
        assert_eq!(ended.code, Some(0), "the server did not end well");
        self.close_stopped().await;
    }

    /// Ends a test whose server is down: everything balances, no code went to two orders, and nothing that
    /// was said holds a secret.
    pub async fn close_stopped(self) {
        let report = self.json(&["reconcile"]).await;
        assert_eq!(report["balanced"], Value::Bool(true), "{report}");
        self.seen.no_code_is_on_two_orders();
        self.nothing_said_is_secret();
    }

    /// Ends a test that has no store to reconcile.
    pub fn close_empty(self) {
        self.nothing_said_is_secret();
    }

    fn nothing_said_is_secret(self) {
        let said = self.said.text();
        assert!(!said.contains("panicked"), "a process panicked");
        for mark in [CODE_MARK, MAIL_DOMAIN] {
            assert!(!said.contains(mark), "a code or an address was logged");
        }
        let secrets = self.seen.secrets();
        assert!(!secrets.iter().any(|secret| said.contains(secret)), "a code, token or key was logged");
        self.closed.store(true, Ordering::SeqCst);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let said = self.said.text();
            let lines: Vec<&str> = said.lines().collect();
            let last = lines.len().saturating_sub(SHOWN);
            eprintln!("--- the processes said ({last} lines before) ---\n{}\n---", lines[last..].join("\n"));
            return;
        }
        assert!(self.closed.load(Ordering::SeqCst), "the test did not close its program");
    }
}

/// Codes that no other call of the same name gives.
pub fn codes(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{CODE_MARK}-{name}-{n:07}")).collect()
}
