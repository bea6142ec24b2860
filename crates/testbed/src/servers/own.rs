//! A server of a test's own: to kill, to freeze and to start again.

#![expect(clippy::expect_used, reason = "a server that cannot be had or hurt fails its test")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::held::Held;
use super::running::CONTROL;
use super::{Server, Trouble};

/// RabbitMQ writes down which quorum queues it has half a second after the last was declared; killed before, it comes
/// back with a queue that has no leader. Nothing shows from outside that it is written.
pub const DECLARED_AFTER: Duration = Duration::from_secs(2);

/// A server of one's own, ended on drop; a container or an installed one. Needs `target/PROFILE/tessera-servers`.
///
/// Dropping it waits for the end of everything it started. If the test is killed instead, it ends all the same.
#[derive(Debug)]
pub struct Own {
    held: Arc<Mutex<Held>>,
    url: String,
    folder: Option<PathBuf>,
}

impl Own {
    /// An empty PostgreSQL.
    pub async fn postgres() -> Self {
        Self::start_new(Server::Postgres).await
    }

    /// An empty RabbitMQ.
    pub async fn rabbit() -> Self {
        Self::start_new(Server::Rabbit).await
    }

    async fn start_new(server: Server) -> Self {
        let held = blocking(move || Held::start(&holder(), &["--own", server.word()])).await;
        let held = held.expect("a server of the test's own");
        let told = |wanted: &str| {
            held.told().iter().find_map(|(name, value)| (name == wanted).then(|| value.clone()))
        };
        let (url, folder) = (told("url").expect("its address"), told("folder").map(PathBuf::from));
        Self { held: Arc::new(Mutex::new(held)), url, folder }
    }

    /// Its address, which stays the same over a restart.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The folder in which all its processes work, unless they are a container's.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// SIGKILL to the whole server; returns once it is gone.
    ///
    /// What it had confirmed is there again after [`Own::start`], but for a queue younger than [`DECLARED_AFTER`].
    pub async fn kill(&self) {
        self.order("kill").await;
    }

    /// SIGQUIT: PostgreSQL's immediate shutdown, which tells its clients and writes nothing down.
    pub async fn quit(&self) {
        self.order("quit").await;
    }

    /// Starts it after [`Own::kill`] or [`Own::quit`] on the same port and data; returns once it accepts clients.
    pub async fn start(&self) {
        self.order("start").await;
    }

    /// Stops the clock for it: it keeps its connections and answers nothing.
    pub async fn freeze(&self) {
        self.order("freeze").await;
    }

    /// Lets it go on after [`Own::freeze`].
    pub async fn thaw(&self) {
        self.order("thaw").await;
    }

    /// Runs `rabbitmqctl` with these arguments to its end, within a minute; none may hold a tab or a line break.
    pub async fn control(&self, arguments: &[&str]) {
        self.order(&format!("{CONTROL}{}", arguments.join("\t"))).await;
    }

    async fn order(&self, word: &str) {
        let (held, word) = (Arc::clone(&self.held), word.to_owned());
        let done = blocking(move || held.lock().unwrap_or_else(PoisonError::into_inner).order(&word)).await;
        done.expect("the server does as it is told");
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    tokio::task::spawn_blocking(work).await.expect("the thread does not panic")
}

fn holder() -> PathBuf {
    crate::program::built("tessera-servers", "-p tessera-testbed --bin tessera-servers")
}
