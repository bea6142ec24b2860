//! The desk: where requests of one process meet, join sets, and get their answers.

use std::sync::Arc;
use std::time::Duration;

use tessera_model::ids::{OrderId, ProductId};
use tessera_model::place::NewOrder;
use tessera_store::{SetFault, Step, Store, run_set};
use tokio::time::timeout;

use crate::batcher::{Batcher, Busy};
use crate::lanes::Lanes;
use crate::operators::{Accept, CancelFor, DeedOutcome, Refund, Wish};
use crate::pay::{Incoming, Pay, PayLate, PayOutcome};
use crate::place::{Place, PlaceOutcome};
use crate::refunds::{RefundOutcome, RefundTold, Refunds};
use crate::release::{Cancel, CancelOutcome, Cancellation};

/// Who is told of orders that became paid, after the commit. Never waits: what it drops, the sweeper finds.
pub trait Heard: Send + Sync + 'static {
    /// These orders are paid; each with the product that chooses its queue.
    fn paid(&self, orders: Vec<(OrderId, ProductId)>);
}

/// Why a request has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Too many wait, or the process is stopping.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// It failed alone, or the store could not work.
    #[error(transparent)]
    Set(#[from] SetFault),
    /// Its set has not come to an end in time; whether it does, nobody knows.
    #[error("there was no outcome in time")]
    Late,
}

type Answer<O> = Result<O, SetFault>;

/// How long a request waits for its outcome: for the set in hand and its own, each with all that a store waits for. Only
/// a store that stands still, such as a file on a frozen disk, takes longer.
const OUTCOME_WITHIN: Duration = Duration::from_secs(15);

/// An outcome in time.
async fn in_time<O>(outcome: impl Future<Output = Result<Answer<O>, Busy>>) -> Result<O, Failure> {
    Ok(timeout(OUTCOME_WITHIN, outcome).await.map_err(|_| Failure::Late)???)
}

/// Lanes of new orders, where the engine locks by row.
const PRODUCT_LANES: usize = 16;

/// Lanes of payments, and of cancellations. Payments in time lock orders only, and go the faster the larger their sets.
const ORDER_LANES: usize = 4;

/// Batchers for each thing buyers do, and what operators do, one by one: there are few of them.
///
/// Where the engine locks by row new orders stand in lanes by product, and payments and cancellations, which know their
/// order only, by order; with one writer all requests join one set.
#[derive(Clone)]
pub struct Desk {
    place: Lanes<NewOrder, Answer<PlaceOutcome>>,
    pay: Lanes<Incoming, Answer<PayOutcome>>,
    cancel: Lanes<Cancellation, Answer<CancelOutcome>>,
    store: Arc<dyn Store>,
    heard: Arc<dyn Heard>,
}

impl Desk {
    /// Starts the batchers.
    pub fn new(store: &Arc<dyn Store>, heard: &Arc<dyn Heard>) -> Self {
        let lanes = |count| if store.has_one_writer() { 1 } else { count };
        Self {
            place: Lanes::start(lanes(PRODUCT_LANES), || {
                let (store, heard) = (Arc::clone(store), Arc::clone(heard));
                Batcher::spawn(move |set| place(Arc::clone(&store), Arc::clone(&heard), set))
            }),
            pay: Lanes::start(lanes(ORDER_LANES), || {
                let (store, heard) = (Arc::clone(store), Arc::clone(heard));
                Batcher::spawn(move |set| pay(Arc::clone(&store), Arc::clone(&heard), set))
            }),
            cancel: Lanes::start(lanes(ORDER_LANES), || {
                let store = Arc::clone(store);
                Batcher::spawn(move |set| run_set(Arc::clone(&store), Arc::new(Cancel), set))
            }),
            store: Arc::clone(store),
            heard: Arc::clone(heard),
        }
    }

    /// Places an order, unless too many wait: the one request that may be turned away for that.
    ///
    /// # Errors
    /// [`Failure`] says whether it is the input or the moment.
    pub async fn place(&self, new: NewOrder) -> Result<PlaceOutcome, Failure> {
        let lowest = new.lines().iter().map(|(sku, _)| sku.clone()).min();
        in_time(self.place.try_submit(lowest, new)).await
    }

    /// Takes a payment, however many wait.
    ///
    /// # Errors
    /// As [`Desk::place`].
    pub async fn pay(&self, incoming: Incoming) -> Result<PayOutcome, Failure> {
        in_time(self.pay.submit(incoming.order(), incoming)).await
    }

    /// Cancels an order.
    ///
    /// # Errors
    /// As [`Desk::place`].
    pub async fn cancel(&self, wish: Cancellation) -> Result<CancelOutcome, Failure> {
        in_time(self.cancel.submit(Some(wish.order), wish)).await
    }

    /// Cancels an order for an operator.
    ///
    /// # Errors
    /// As [`Desk::place`].
    pub async fn cancel_for(&self, wish: Wish) -> Result<DeedOutcome, Failure> {
        self.alone(CancelFor, wish).await
    }

    /// Makes all of an order's money due back.
    ///
    /// # Errors
    /// As [`Desk::place`].
    pub async fn refund(&self, wish: Wish) -> Result<DeedOutcome, Failure> {
        self.alone(Refund, wish).await
    }

    /// Accepts what was paid for an order as enough; the issuer is told as of any payment.
    ///
    /// # Errors
    /// As [`Desk::place`].
    pub async fn accept(&self, wish: Wish) -> Result<DeedOutcome, Failure> {
        let outcome = self.alone(Accept, wish).await?;
        if let DeedOutcome::Done { paid: Some(paid) } = outcome {
            self.heard.paid(vec![paid]);
        }
        Ok(outcome)
    }

    /// Takes that a payment was paid back, however it is told.
    ///
    /// # Errors
    /// As [`Desk::place`].
    pub async fn paid_back(&self, told: RefundTold) -> Result<RefundOutcome, Failure> {
        self.alone(Refunds, told).await
    }

    /// In a task of its own: whoever asked may go away while a commit is in doubt.
    async fn alone<S: Step>(&self, step: S, input: S::Input) -> Result<S::Output, Failure> {
        let set = tokio::spawn(run_set(Arc::clone(&self.store), Arc::new(step), vec![input]));
        let outcome = async { Ok(set.await.map_err(|_| Busy)?.pop().unwrap_or_else(nothing)) };
        in_time(outcome).await
    }
}

/// A set of one has one outcome.
fn nothing<O>() -> Answer<O> {
    Err(SetFault::Data("a step gave no outcome".to_owned()))
}

async fn place(
    store: Arc<dyn Store>,
    heard: Arc<dyn Heard>,
    set: Vec<NewOrder>,
) -> Vec<Answer<PlaceOutcome>> {
    let outcomes = run_set(store, Arc::new(Place), set).await;
    // Free orders are paid as they are placed.
    let paid = outcomes.iter().filter_map(|outcome| match outcome {
        Ok(PlaceOutcome::Placed(placed)) if placed.order.state.paid_at().is_some() => {
            let product = placed.lines.iter().map(|l| l.product).min()?;
            Some((placed.order.id, product))
        }
        Ok(_) | Err(_) => None,
    });
    tell(&*heard, paid.collect());
    outcomes
}

async fn pay(store: Arc<dyn Store>, heard: Arc<dyn Heard>, set: Vec<Incoming>) -> Vec<Answer<PayOutcome>> {
    let mut outcomes = run_set(Arc::clone(&store), Arc::new(Pay), set.clone()).await;
    let late: Vec<usize> =
        (0..set.len()).filter(|at| matches!(outcomes[*at], Ok(PayOutcome::Late))).collect();
    if !late.is_empty() {
        let again = late.iter().map(|at| set[*at].clone()).collect();
        for (at, outcome) in late.into_iter().zip(run_set(store, Arc::new(PayLate), again).await) {
            outcomes[at] = outcome;
        }
    }
    let paid = outcomes.iter().filter_map(|outcome| match outcome {
        Ok(PayOutcome::Taken { paid, .. }) => *paid,
        Ok(_) | Err(_) => None,
    });
    tell(&*heard, paid.collect());
    outcomes
}

fn tell(heard: &dyn Heard, paid: Vec<(OrderId, ProductId)>) {
    if !paid.is_empty() {
        heard.paid(paid);
    }
}
