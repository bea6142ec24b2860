//! SIGTERM and SIGINT.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

/// Heard from when this is made: a signal that comes earlier ends the process where it stands.
pub(super) struct Signals {
    term: Signal,
    int: Signal,
}

impl Signals {
    pub(super) fn hear() -> Result<Self, Failure> {
        let heard = |kind| {
            signal(kind).map_err(|e| {
                Failure::needs(format!("signals cannot be heard: {e}"), "see the system's limits")
            })
        };
        Ok(Self { term: heard(SignalKind::terminate())?, int: heard(SignalKind::interrupt())? })
    }

    /// The first one; that is a good end.
    pub(super) async fn first(&mut self) -> Result<(), Failure> {
        tokio::select! { _ = self.term.recv() => {}, _ = self.int.recv() => {} }
        Ok(())
    }
}
