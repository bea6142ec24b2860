//! The program `tessera-servers`: holds servers for as long as somebody wants them.
//!
//! ```text
//! tessera-servers               prints NAME=VALUE lines, then `ready`; serves until its standard input closes
//! tessera-servers CMD ARGS…     runs a command with these names in its environment, and ends with its exit code
//! tessera-servers --own SERVER  one server, hurt by the words of `Own` on standard input, each answered by `done`
//! ```
//!
//! What holds it keeps the other end of its standard input, so that the servers end with their user even when
//! that is killed. SIGTERM ends it as well.

#![expect(clippy::print_stderr, reason = "a developer's tool talks to its terminal")]

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::process::ExitCode;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::find::{ALL, find, ways_like};
use super::running::Running;
use super::{Server, Trouble, WAY_VARIABLE};

mod run;

const HELP: &str = "\
Usage: tessera-servers [CMD ARGS…]

Finds or starts PostgreSQL and RabbitMQ for tests. With a command: runs it with TEST_POSTGRES_URL, TEST_AMQP_URL and
TEST_SERVERS set, and ends with its exit code. Without: prints them, then `ready`, and serves until its standard input
closes or SIGTERM comes.
";

/// How many orders may wait; who gives them waits for the answer to each.
const ORDERS_MAX: usize = 8;

/// What the holder is asked to do.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    Help,
    Hold,
    Own(Server),
    Run(Vec<OsString>),
}

/// Does what its arguments say.
pub fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().map_err(Trouble::during("starting"));
    let done = runtime.and_then(|runtime| {
        runtime.block_on(async {
            match task(std::env::args_os().skip(1).collect()) {
                Task::Help => Ok(print(HELP)).map(|()| ExitCode::SUCCESS),
                Task::Hold => hold().await.map(|()| ExitCode::SUCCESS),
                Task::Own(server) => own(server).await.map(|()| ExitCode::SUCCESS),
                Task::Run(line) => run::run(line).await,
            }
        })
    });
    done.unwrap_or_else(|trouble| {
        say(&trouble.to_string());
        ExitCode::FAILURE
    })
}

fn task(mut words: Vec<OsString>) -> Task {
    match words.iter().map(|word| word.to_str().unwrap_or_default()).collect::<Vec<_>>().as_slice() {
        [] | ["--"] => Task::Hold,
        ["--own", "postgres"] => Task::Own(Server::Postgres),
        ["--own", "rabbit"] => Task::Own(Server::Rabbit),
        ["--", ..] => Task::Run(words.split_off(1)),
        [word, ..] if word.starts_with('-') => Task::Help,
        _ => Task::Run(words),
    }
}

async fn hold() -> Result<(), Trouble> {
    let mut orders = Orders::listen()?;
    let pair = async { tokio::try_join!(find(Server::Postgres, ALL, say), find(Server::Rabbit, ALL, say)) };
    let (postgres, rabbit) = tokio::select! {
        pair = pair => pair?,
        () = orders.ended() => return Ok(()),
    };
    for (server, running) in [(Server::Postgres, &postgres), (Server::Rabbit, &rabbit)] {
        print(&format!("{}={}\n", server.variable(), running.url()));
    }
    print(&format!("{WAY_VARIABLE}={}\nready\n", way(&postgres, &rabbit)));
    orders.ended().await;
    Ok(())
}

/// What worked for those that were started; where two ways did, the one that was tried later.
fn way(postgres: &Running, rabbit: &Running) -> &'static str {
    let ways = [postgres.way(), rabbit.way()];
    ["installed", "containers"].into_iter().find(|way| ways.contains(way)).unwrap_or("given")
}

#[expect(clippy::disallowed_methods, reason = "the holder of the pair says in the environment what worked")]
async fn own(server: Server) -> Result<(), Trouble> {
    let mut orders = Orders::listen()?;
    let before = std::env::var(WAY_VARIABLE).ok();
    let mut running = tokio::select! {
        running = find(server, ways_like(before.as_deref()), |_| {}) => running?,
        () = orders.ended() => return Ok(()),
    };
    print(&format!("url={}\n", running.url()));
    if let Some(place) = running.place() {
        print(&format!("folder={}\n", place.display()));
    }
    print("ready\n");
    while let Some(order) = orders.next().await {
        match running.obey(&order).await {
            Ok(()) => print("done\n"),
            Err(trouble) => print(&format!("{}\n", trouble.to_string().replace('\n', " | "))),
        }
    }
    Ok(())
}

/// What is ordered on standard input, and the signal that ends all.
struct Orders {
    lines: mpsc::Receiver<String>,
    terminate: Signal,
}

impl Orders {
    fn listen() -> Result<Self, Trouble> {
        let terminate = signal(SignalKind::terminate()).map_err(Trouble::during("hearing signals"))?;
        let (sender, lines) = mpsc::channel(ORDERS_MAX);
        // A thread, since a read of standard input cannot be given up; it ends with the process.
        std::thread::spawn(move || {
            let lines = std::io::stdin().lock().lines();
            lines.map_while(Result::ok).try_for_each(|line| sender.blocking_send(line))
        });
        Ok(Self { lines, terminate })
    }

    /// The next order; none once it is time to end.
    async fn next(&mut self) -> Option<String> {
        tokio::select! {
            line = self.lines.recv() => line,
            _ = self.terminate.recv() => None,
        }
    }

    async fn ended(&mut self) {
        while self.next().await.is_some() {}
    }
}

fn say(sentence: &str) {
    eprintln!("tessera-servers: {sentence}");
}

/// Whoever does not listen any more has closed standard input too, which ends all.
fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _printed = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Task {
        task(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn words_that_are_no_options_are_a_command() {
        let command = || Task::Run(vec!["cargo".into(), "test".into(), "--help".into()]);
        assert_eq!(asked("cargo test --help"), command());
        assert_eq!(asked("-- cargo test --help"), command());
    }

    #[test]
    fn without_words_the_pair_is_held() {
        assert_eq!(asked(""), Task::Hold);
        assert_eq!(asked("--own rabbit"), Task::Own(Server::Rabbit));
        assert_eq!(asked("--help"), Task::Help);
    }

    #[test]
    fn the_way_is_that_of_what_was_started() {
        let given = || Running::Given(String::new());
        assert_eq!(way(&given(), &given()), "given");
    }
}
