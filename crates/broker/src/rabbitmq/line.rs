//! A line to the broker that is kept up: one connection after another, for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lapin::uri::AMQPUri;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::link::Link;
use crate::BrokerError;

/// The first wait between the beginnings of two attempts; doubled up to [`RETRY_MAX`]: 0.1, 0.2 … 3.2, 4 s.
const RETRY_MIN: Duration = Duration::from_millis(100);
/// The longest; with the time that an attempt may take, they begin at most 5 s apart.
const RETRY_MAX: Duration = Duration::from_secs(4);
/// The wait when a connection was made: one that lasted longer is replaced at once.
const RETRY_MADE: Duration = Duration::from_millis(500);

#[derive(Clone)]
enum State {
    /// The first attempt is not over.
    Starting,
    Up(Arc<Link>),
    Away(String),
    Closed,
}

/// A connection for one purpose; the first who asks for it starts it.
pub(super) struct Line {
    uri: AMQPUri,
    name: String,
    state: watch::Sender<State>,
    started: AtomicBool,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Line {
    /// A line that ends with `stop`; `name` is shown by the broker.
    pub(super) fn new(uri: AMQPUri, name: String, stop: CancellationToken, tasks: TaskTracker) -> Arc<Self> {
        let state = watch::Sender::new(State::Starting);
        Arc::new(Self { uri, name, state, started: AtomicBool::new(false), stop, tasks })
    }

    /// The open connection; if there is none it answers at once, after waiting for the very first attempt.
    pub(super) async fn link(self: &Arc<Self>) -> Result<Arc<Link>, BrokerError> {
        if self.stop.is_cancelled() {
            return Err(BrokerError::Closed);
        }
        if !self.started.swap(true, Ordering::Relaxed) {
            let line = Arc::clone(self);
            self.tasks.spawn(async move { line.keep_up().await });
        }
        let mut state = self.state.subscribe();
        match state.wait_for(|state| !matches!(state, State::Starting)).await.as_deref() {
            Ok(State::Up(link)) => Ok(Arc::clone(link)),
            Ok(State::Away(reason)) => Err(BrokerError::Away(reason.clone())),
            Ok(State::Closed | State::Starting) | Err(_) => Err(BrokerError::Closed),
        }
    }

    async fn keep_up(&self) {
        let mut wait = RETRY_MIN;
        while !self.stop.is_cancelled() {
            let began = Instant::now();
            let made = tokio::select! {
                () = self.stop.cancelled() => break,
                made = self.connection() => made,
            };
            if made {
                wait = RETRY_MADE;
            }
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = sleep_until(began + wait) => {}
            }
            wait = (wait * 2).min(RETRY_MAX);
        }
        if let State::Up(link) = self.state.send_replace(State::Closed) {
            link.close().await;
        }
    }

    /// One connection from the attempt to its end; says whether it was made.
    async fn connection(&self) -> bool {
        let link = match Link::connect(&self.uri, &self.name).await {
            Ok(link) => Arc::new(link),
            Err(reason) => {
                self.away(reason);
                return false;
            }
        };
        self.up(Arc::clone(&link));
        let reason = link.lost().await;
        link.end();
        self.away(reason);
        true
    }

    fn up(&self, link: Arc<Link>) {
        if let State::Away(_) = self.state.send_replace(State::Up(link)) {
            tracing::info!(connection = self.name, "the broker is back");
        }
    }

    fn away(&self, reason: String) {
        // Only the change is logged, not each attempt.
        if !matches!(*self.state.borrow(), State::Away(_)) {
            tracing::warn!(connection = self.name, reason, "the broker is away");
        }
        self.state.send_replace(State::Away(reason));
    }
}
