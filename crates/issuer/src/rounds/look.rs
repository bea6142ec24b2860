//! Looking for rounds whose draw is due.

use std::sync::Arc;

use tessera_model::ids::BatchId;
use tessera_store::{Result, SetFault, Store, run_alone, run_set};

use super::{Draw, DrawOutcome};

/// Rounds that are read at a time: each draw reads the whole ledger of its round.
const PAGE: i64 = 16;

/// Pages of one look. What is behind them is the next look's, which begins there.
const PAGES_MAX: usize = 16;

/// Draws what is due, look by look. A round that cannot be drawn stays due, so a look goes on behind those tried.
#[derive(Debug, Default)]
pub struct Draws {
    /// The round tried last, if more may be due behind it.
    after: Option<BatchId>,
}

impl Draws {
    /// Draws the rounds that are due, each by itself: one that cannot be drawn must not stop the others.
    ///
    /// # Errors
    /// The store's; the next look goes on behind the round that met it.
    pub async fn look(&mut self, store: &Arc<dyn Store>, step: &Arc<Draw>) -> Result<()> {
        for _ in 0..PAGES_MAX {
            let due = due(store, self.after).await?;
            let is_last = i64::try_from(due.len()).is_ok_and(|count| count < PAGE);
            for round in due {
                self.after = Some(round);
                draw(store, step, round).await?;
            }
            if is_last {
                self.after = None;
                break;
            }
        }
        Ok(())
    }
}

async fn due(store: &Arc<dyn Store>, after: Option<BatchId>) -> Result<Vec<BatchId>> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        let now = tx.now();
        tx.rounds_due(now, after, PAGE).await
    })
    .await
}

async fn draw(store: &Arc<dyn Store>, step: &Arc<Draw>, round: BatchId) -> Result<()> {
    for outcome in run_set(Arc::clone(store), Arc::clone(step), vec![round]).await {
        match outcome {
            Ok(DrawOutcome::Drawn(_)) => tracing::info!(round.id = %round, "a round was drawn"),
            Ok(DrawOutcome::Nobodys) => {
                tracing::warn!(round.id = %round, "a round was called off, for none of its shares was sold");
            }
            Ok(DrawOutcome::Waits) => tracing::debug!(round.id = %round, "a draw waits for its beacon"),
            Ok(DrawOutcome::Known(_) | DrawOutcome::NotDue | DrawOutcome::Unknown) => {}
            Err(SetFault::Data(detail)) => {
                tracing::error!(round.id = %round, detail, "a round cannot be drawn");
            }
            Err(SetFault::Store(error)) => return Err(error),
        }
    }
    Ok(())
}
