//! What is published and not acknowledged, counted where messages pass.

use std::sync::atomic::{AtomicBool, Ordering};

use tessera_broker::PublishError;
use tokio::sync::watch;

/// The count of one queue.
///
/// It is exact as long as no acknowledgement or confirm is lost on the way, which only an outage does.
pub(super) struct Tally {
    /// Below zero only when a message came though its publisher was told that it had failed.
    left: watch::Sender<i64>,
    whole_sets: AtomicBool,
}

impl Default for Tally {
    fn default() -> Self {
        Self { left: watch::Sender::new(0), whole_sets: AtomicBool::new(false) }
    }
}

impl Tally {
    /// So many are about to be published: counted before, so that no acknowledgement overtakes its message.
    pub(super) fn publishing(&self, count: usize) {
        self.left.send_modify(|left| *left += i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// What became of them.
    pub(super) fn published(&self, outcomes: &[Result<(), PublishError>]) {
        let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        self.gone(u64::try_from(failed).unwrap_or(u64::MAX));
    }

    /// So many were acknowledged or thrown away.
    pub(super) fn gone(&self, count: u64) {
        self.left.send_modify(|left| *left -= i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(super) fn left(&self) -> u64 {
        u64::try_from(*self.left.borrow()).unwrap_or(0)
    }

    pub(super) async fn none_left(&self) {
        // The sender is ours, so waiting cannot fail.
        let _ = self.left.subscribe().wait_for(|left| *left == 0).await;
    }

    pub(super) fn hand_out_whole_sets(&self) {
        self.whole_sets.store(true, Ordering::SeqCst);
    }

    pub(super) fn has_whole_sets(&self) -> bool {
        self.whole_sets.load(Ordering::SeqCst)
    }
}
