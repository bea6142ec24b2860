//! Running a step over a set: one transaction in a task of its own, halved on a data fault.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use tessera_faults::{At, point};

use crate::error::{Result, StoreError};
use crate::tx::{Store, Tx};

pub use tessera_model::issue::SET_MAX;

/// How often a set whose commit was in doubt is run again before its callers are told to try later.
const RERUNS_MAX: u32 = 3;

/// One kind of set: how a transaction turns inputs into outcomes.
#[async_trait]
pub trait Step: Send + Sync + 'static {
    /// What it is called: a verb.
    const NAME: &str;
    /// One input; carries the ids it will need.
    type Input: Clone + Send + Sync + 'static;
    /// What became of one input.
    type Output: Send + 'static;

    /// Decides and writes the set. `again` says that an earlier run of the same inputs may have committed.
    ///
    /// Returns one outcome an input, in order.
    async fn run(&self, tx: &mut dyn Tx, inputs: &[Self::Input], again: bool) -> Result<Vec<Self::Output>>;
}

/// Why an input has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetFault {
    /// It failed alone, by a fault of its own.
    #[error("the input cannot be stored: {0}")]
    Data(String),
    /// The store could not work.
    #[error(transparent)]
    Store(StoreError),
}

type Outcomes<S> = Vec<Result<<S as Step>::Output, SetFault>>;

/// Runs a step over a set; one result an input, in order.
///
/// The transaction runs in a task of its own, so that a caller that goes away cannot cut it in half. A set
/// that fails by a data fault, a panic among them, is halved until the faulty input stands alone; anything
/// else fails the set as a whole.
pub fn run_set<S: Step>(
    store: Arc<dyn Store>,
    step: Arc<S>,
    inputs: Vec<S::Input>,
) -> Pin<Box<dyn Future<Output = Outcomes<S>> + Send>> {
    Box::pin(async move {
        let count = inputs.len();
        if count == 0 {
            return vec![];
        }
        match attempt(&store, &step, &inputs).await {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            Err(StoreError::Data(detail)) if count == 1 => vec![Err(SetFault::Data(detail))],
            Err(StoreError::Data(_)) => {
                let (left, right) = inputs.split_at(count / 2);
                let mut outcomes = run_set(Arc::clone(&store), Arc::clone(&step), left.to_vec()).await;
                outcomes.extend(run_set(store, step, right.to_vec()).await);
                outcomes
            }
            Err(error) => (0..count).map(|_| Err(SetFault::Store(error.clone()))).collect(),
        }
    })
}

async fn attempt<S: Step>(
    store: &Arc<dyn Store>,
    step: &Arc<S>,
    inputs: &[S::Input],
) -> Result<Vec<S::Output>> {
    let mut again = false;
    let mut reruns = 0;
    loop {
        let (store, step, inputs) = (Arc::clone(store), Arc::clone(step), inputs.to_vec());
        let outcome = run_alone(async move {
            let mut tx = store.begin().await?;
            let outcomes = step.run(&mut *tx, &inputs, again).await?;
            commit(S::NAME, tx).await?;
            Ok(outcomes)
        })
        .await;
        match outcome {
            Err(StoreError::InDoubt(_)) if reruns < RERUNS_MAX => (again, reruns) = (true, reruns + 1),
            // An earlier run may be done, so it cannot be said that nothing was.
            Err(StoreError::Unavailable(detail)) if again => return Err(StoreError::InDoubt(detail)),
            outcome => return outcome,
        }
    }
}

/// Commits what `who` has written: a fault point on either side.
///
/// # Errors
/// The commit's own.
pub async fn commit(who: &str, tx: Box<dyn Tx>) -> Result<()> {
    if point(who, At::BeforeCommit) {
        return Err(StoreError::Unavailable("a fault point before the commit".to_owned()));
    }
    tx.commit().await?;
    match point(who, At::AfterCommit) {
        true => Err(StoreError::InDoubt("a fault point after the commit".to_owned())),
        false => Ok(()),
    }
}

/// Runs a transaction in a task of its own; a panic in it is a data fault.
///
/// # Errors
/// The future's own, or `Data` when it panicked.
pub async fn run_alone<T: Send + 'static>(
    transaction: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    match tokio::spawn(transaction).await {
        Ok(outcome) => outcome,
        // The message may quote a value, so it goes nowhere.
        Err(error) if error.is_panic() => Err(StoreError::Data("a step panicked".to_owned())),
        Err(_) => Err(StoreError::Unavailable("the process is stopping".to_owned())),
    }
}
