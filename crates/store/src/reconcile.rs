//! Reconcile: the balances that must hold, proved from the tables.

use async_trait::async_trait;

use crate::error::Result;

/// One balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// `codes`, `claims`, `customers`, `money` or `rounds`.
    pub name: &'static str,
    /// How many rows were looked at.
    pub checked: i64,
    /// The rows at fault, at most [`FAULTS_MAX`].
    pub faults: Vec<Fault>,
}

/// A row that is off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The table.
    pub table: String,
    /// The row.
    pub id: String,
    /// What is wrong with it, in numbers.
    pub detail: String,
}

/// The most faults that one check lists.
pub const FAULTS_MAX: usize = 1000;

/// The proof.
#[async_trait]
pub trait ReconcileOps {
    /// Checks every balance; run it on a snapshot.
    async fn reconcile(&mut self) -> Result<Vec<Check>>;
}
