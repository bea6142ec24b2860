//! An operation that stands still, like that of a process about to be killed.

use tessera_store::{Result, StoreError};
use tokio::sync::watch;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Awaited,
    Reached,
    GoesOn,
    Dies,
}

/// Both ends of an operation that stands still.
#[derive(Clone)]
pub struct Hang(watch::Sender<Phase>);

impl Default for Hang {
    fn default() -> Self {
        Self(watch::Sender::new(Phase::Awaited))
    }
}

impl Hang {
    /// Waits until the operation stands still.
    pub async fn reached(&self) {
        self.wait(|phase| phase != Phase::Awaited).await;
    }

    /// Lets it go on as if nothing had been.
    pub fn go_on(&self) {
        self.0.send_replace(Phase::GoesOn);
    }

    /// Ends it with its transaction: what a killed process leaves.
    pub fn die(&self) {
        self.0.send_replace(Phase::Dies);
    }

    pub(super) async fn stand_still(&self) -> Result<()> {
        self.0.send_if_modified(|phase| {
            let first = *phase == Phase::Awaited;
            if first {
                *phase = Phase::Reached;
            }
            first
        });
        match self.wait(|phase| matches!(phase, Phase::GoesOn | Phase::Dies)).await {
            Phase::Dies => Err(StoreError::Unavailable("the process was killed".to_owned())),
            Phase::Awaited | Phase::Reached | Phase::GoesOn => Ok(()),
        }
    }

    /// The sender is ours, so the channel cannot close while we wait.
    async fn wait(&self, is: impl Fn(Phase) -> bool) -> Phase {
        let mut phases = self.0.subscribe();
        phases.wait_for(|phase| is(*phase)).await.map_or(Phase::GoesOn, |phase| *phase)
    }
}
