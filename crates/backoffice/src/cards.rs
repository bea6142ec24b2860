//! Cards: voiding and replacing codes, finding who has one, closing batches before their codes end.

use std::sync::Arc;
use std::time::Duration;

use tessera_issuer::{Done, Replace, ReplaceOutcome, Replacement, Void, VoidOutcome, Voided, Voiding};
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::keys::Keyring;
use tessera_model::product::Stock;
use tessera_model::void::CannotVoid;
use tessera_store::ledger::{Claimant, Movement, MovementFilter};
use tessera_store::operators::AuditEntry;
use tessera_store::{Result, SetFault, Step, Store, StoreError, run_alone, run_set};

mod find;

pub use find::{CodeState, FoundCode, find};

/// A batch is closed so long before its codes end: who orders now has to be able to use them.
pub const CLOSE_BEFORE: Duration = Duration::from_mins(10);

/// Batches closed in one round.
const CLOSED_MAX: i64 = 100;

/// Orders looked through for those that will wait.
const CLAIMANTS_MAX: i64 = 100_000;

/// Orders that a report names; there may be more.
pub const NAMED_MAX: i64 = 1_000;

/// What was voided, and whom it touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What was done.
    pub done: Done,
    /// What orders have of the batch, newest first: it stays theirs.
    pub sold: Vec<Movement>,
    /// Pending orders that what is left does not reach, in the order they will wait.
    pub waiting: Vec<Claimant>,
}

async fn one<S: Step>(store: &Arc<dyn Store>, step: S, input: S::Input) -> Result<S::Output, SetFault> {
    let gone = || SetFault::Store(StoreError::Unavailable("the step gave no answer".to_owned()));
    run_set(Arc::clone(store), Arc::new(step), vec![input]).await.pop().ok_or_else(gone)?
}

/// Which codes of a batch are to be voided, in operators' words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// All that nobody has.
    Rest,
    /// These positions, as [`FoundCode::position`] tells them.
    Positions(Vec<i64>),
}

/// A wish to void.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The batch.
    pub batch: BatchId,
    /// What of it.
    pub what: What,
    /// Who.
    pub actor: String,
    /// Why.
    pub reason: String,
    /// Whether what pending orders claim may be taken.
    pub force: bool,
}

/// Voids the unissued rest of a batch or single positions, and says whom that touches.
///
/// # Errors
/// The store's.
pub async fn void(
    store: &Arc<dyn Store>,
    keyring: &Arc<Keyring>,
    wish: Wish,
) -> Result<std::result::Result<Report, CannotVoid>, SetFault> {
    let Wish { batch, what, actor, reason, force } = wish;
    let what = match what {
        What::Rest => Voided::Rest,
        What::Positions(positions) => {
            let placed = find::places(store, keyring, batch, positions).await.map_err(SetFault::Store)?;
            match placed {
                Ok(places) => Voided::Places(places),
                Err(refused) => return Ok(Err(refused)),
            }
        }
    };
    let outcome: VoidOutcome = one(store, Void, Voiding { batch, what, actor, reason, force }).await?;
    match outcome {
        Ok(done) => report(store, batch, done).await.map(Ok).map_err(SetFault::Store),
        Err(refused) => Ok(Err(refused)),
    }
}

/// Read after the locks are gone: it is told, not decided on.
async fn report(store: &Arc<dyn Store>, batch: BatchId, done: Done) -> Result<Report> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        let filter = MovementFilter { batch: Some(batch), ..MovementFilter::default() };
        let moved = tx.movements_list(&filter, NAMED_MAX).await?;
        let sold = moved.into_iter().filter(|movement| movement.owner.is_some()).collect();
        let short = done.unissued > 0 && done.stock.unissued < done.stock.claimed;
        let waiting = if short { waiting(&mut *tx, done.product, done.stock).await? } else { vec![] };
        Ok(Report { done, sold, waiting })
    })
    .await
}

/// Who claims what is not there: those that come last.
async fn waiting(tx: &mut dyn tessera_store::Tx, product: ProductId, stock: Stock) -> Result<Vec<Claimant>> {
    let mut left = stock.unissued;
    let claimants = tx.claimants_of(product, CLAIMANTS_MAX).await?;
    let reached = |claimant: &Claimant| {
        let fits = claimant.quantity <= left;
        left -= if fits { claimant.quantity } else { left };
        fits
    };
    let reached: Vec<bool> = claimants.iter().map(reached).collect();
    let waits =
        claimants.into_iter().zip(reached).filter(|(_, reached)| !reached).map(|(claimant, _)| claimant);
    Ok(waits.take(usize::try_from(NAMED_MAX).unwrap_or(usize::MAX)).collect())
}

/// Gives a line other codes in the place of those that do not work.
///
/// # Errors
/// The store's.
pub async fn replace(store: &Arc<dyn Store>, wish: Replacement) -> Result<ReplaceOutcome, SetFault> {
    one(store, Replace, wish).await
}

/// Closes batches whose codes end within [`CLOSE_BEFORE`]; returns how many. Orders that claimed them wait for others.
///
/// # Errors
/// The store's; what was not closed is found again.
pub async fn close_ending(store: &Arc<dyn Store>) -> Result<usize> {
    let reader = Arc::clone(store);
    let ending = run_alone(async move {
        let mut tx = reader.snapshot().await?;
        let by = tx.now().plus(CLOSE_BEFORE);
        tx.batches_ending(by, CLOSED_MAX).await
    })
    .await?;
    let mut closed = 0;
    for batch in ending {
        let (actor, reason) = ("housekeeper".to_owned(), "its codes end soon".to_owned());
        let wish = Voiding { batch, what: Voided::Rest, actor, reason, force: true };
        match one(store, Void, wish).await {
            Ok(Ok(_)) => closed += 1,
            // Somebody closed it meanwhile.
            Ok(Err(_)) => {}
            Err(SetFault::Data(detail)) => tracing::error!(detail, "a batch cannot be closed"),
            Err(SetFault::Store(error)) => return Err(error),
        }
    }
    Ok(closed)
}

/// Makes every token of an order worthless but those given out from now on; returns the new epoch, none if there is
/// no such order.
///
/// # Errors
/// The store's.
pub async fn reissue_link(
    store: &Arc<dyn Store>,
    order: OrderId,
    actor: String,
    reason: Option<String>,
) -> Result<Option<i32>> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let epoch = tx.orders_reissue(order).await?;
        if epoch.is_some() {
            let (action, subject) = ("order.reissue_link".to_owned(), order.to_string());
            tx.audit_append(&[AuditEntry { actor, action, subject, reason }]).await?;
        }
        tx.commit().await?;
        Ok(epoch)
    })
    .await
}

/// Notes that an operator was shown an order's codes.
///
/// # Errors
/// The store's: then they are not to be shown.
pub async fn codes_read(store: &Arc<dyn Store>, order: OrderId, actor: String) -> Result<()> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let (action, subject) = ("codes.read".to_owned(), order.to_string());
        tx.audit_append(&[AuditEntry { actor, action, subject, reason: None }]).await?;
        tx.commit().await
    })
    .await
}
