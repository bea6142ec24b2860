//! What every engine must do, as one suite.
//!
//! An engine supplies a [`Harness`] and calls [`conformance_suite!`](crate::conformance_suite); each case
//! becomes a test on a store of its own. The cases speak through the seam alone: what only one engine has
//! (its locks, its files) is tested beside it.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a case that fails panics; that is its use"
)]

mod clock;
mod fixture;
mod shop;

pub mod transactions;

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Clock, Store};

pub use clock::MockClock;
pub use fixture::Fixture;

/// One database of its own for one case.
#[async_trait]
pub trait Harness: Send + Sync {
    /// Opens the database as a process would: the first time with nothing in it, not even a schema, and
    /// later with what was committed.
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store>;
}

/// Expands to one `#[tokio::test]` per case of the suite.
///
/// Takes an expression that makes a [`Harness`](crate::conformance::Harness), evaluated afresh in each test;
/// it may `.await`. The calling crate needs `tokio` with `macros` and `rt`.
#[macro_export]
macro_rules! conformance_suite {
    ($harness:expr) => {
        $crate::conformance_suite!(@cases $harness, open_empty, transactions: [
            new_store_is_empty_until_it_is_migrated,
        ]);
        $crate::conformance_suite!(@cases $harness, open, transactions: [
            time_never_runs_backwards,
            dropped_transaction_never_was,
            refused_set_leaves_nothing,
            committed_data_survives_a_restart,
            snapshot_sees_one_state_while_another_commits,
            snapshot_does_not_wait_for_a_writer,
            concurrent_transactions_lose_no_count,
            generation_stays_while_sets_rise,
            migrating_again_changes_nothing,
            closed_store_is_unavailable,
        ]);
    };
    (@cases $harness:expr, $open:ident, $group:ident: [$($case:ident,)+]) => {
        $(
            #[tokio::test]
            async fn $case() {
                let fixture = $crate::conformance::Fixture::$open($harness).await;
                $crate::conformance::$group::$case(&fixture).await;
            }
        )+
    };
}
