//! What a program runs on: alone in its folder, or on servers.

#![expect(clippy::expect_used, reason = "a program that cannot be set up fails its test")]

use std::process::{Command, Stdio};

use super::Program;
use crate::{Database, Engine, Queues};

/// A database and queues that are a program's own.
pub struct Servers {
    /// The database.
    pub database: Database,
    /// The queues.
    pub queues: Queues,
}

impl Default for Program {
    /// On the engines that the run is for.
    fn default() -> Self {
        match Engine::of_this_run() {
            Engine::Sqlite => Self::embedded(),
            Engine::Postgres => Self::on_servers(),
        }
    }
}

impl Program {
    /// On SQLite and the embedded broker, whatever the run is for.
    pub fn embedded() -> Self {
        Self::bare()
    }

    /// On PostgreSQL and RabbitMQ, whatever the run is for; the schema and a keyring are there.
    pub fn on_servers() -> Self {
        let database = std::thread::scope(|scope| scope.spawn(create).join()).expect("a database");
        Self::on(database, Queues::shared())
    }

    /// On this database and these queues.
    pub fn on(database: Database, queues: Queues) -> Self {
        let program = Self::unprepared(database, queues);
        program.prepare();
        program
    }

    /// On servers, with neither schema nor keyring.
    pub fn unprepared(database: Database, queues: Queues) -> Self {
        let mut program = Self::bare()
            .with("DATABASE__URL", &database.url())
            .with("BROKER__URL", queues.url())
            .with("BROKER__PREFIX", queues.prefix());
        program.servers = Some(Servers { database, queues });
        program
    }

    /// Makes the keyring and the schema, as an operator does once.
    pub fn prepare(&self) {
        for arguments in [&["keyring", "create"][..], &["migrate"]] {
            let done = self.line(arguments).stderr(Stdio::inherit()).output();
            assert!(done.is_ok_and(|done| done.status.success()), "{arguments:?} failed");
        }
    }

    /// The servers it runs on.
    ///
    /// # Panics
    /// When it runs on none.
    pub fn servers(&self) -> &Servers {
        self.servers.as_ref().expect("the program runs on servers")
    }

    /// The command line of another process of the shop: on a host of its own, so with a data folder of its own, and
    /// the same keyring.
    pub fn line_elsewhere(&self, host: &str, arguments: &[&str]) -> Command {
        self.elsewhere(host, self.line(arguments))
    }

    /// Any command line of the shop, on such a host.
    pub fn elsewhere(&self, host: &str, mut line: Command) -> Command {
        line.env("TESSERA_DATA_DIR", self.folder().join(host));
        line.env("TESSERA_KEYRING__FILE", self.data().join("keyring.toml"));
        line
    }
}

fn create() -> Database {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(Database::create())
}
