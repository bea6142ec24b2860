//! The desk: where requests of one process meet, join sets, and get their answers.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use tessera_model::ids::{OrderId, ProductId};
use tessera_model::place::NewOrder;
use tessera_model::text::Sku;
use tessera_store::{SetFault, Store, run_set};

use crate::batcher::{Batcher, Busy};
use crate::lanes::Lanes;
use crate::pay::{Incoming, Pay, PayLate, PayOutcome};
use crate::place::{Place, PlaceOutcome};
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
}

type Answer<O> = Result<O, SetFault>;

/// How many lanes new orders have. An order may name any sku, there or not: with a lane a sku, a crowd that makes names
/// up would have a transaction an order, and take every connection from payments and the issuer.
const SKU_LANES: u64 = 16;

/// How many lanes payments and cancellations have, which know their order only.
const ORDER_LANES: u64 = 4;

/// Batchers for each thing buyers do.
///
/// Where the engine locks by row they stand in lanes by product; with one writer all requests join one set.
#[derive(Clone)]
pub struct Desk {
    in_lanes: bool,
    place: Arc<Lanes<u64, NewOrder, Answer<PlaceOutcome>>>,
    pay: Arc<Lanes<u64, Incoming, Answer<PayOutcome>>>,
    cancel: Arc<Lanes<u64, Cancellation, Answer<CancelOutcome>>>,
}

impl Desk {
    /// Starts with no lane.
    pub fn new(store: &Arc<dyn Store>, heard: Arc<dyn Heard>) -> Self {
        Self {
            in_lanes: !store.has_one_writer(),
            place: Lanes::new({
                let (store, heard) = (Arc::clone(store), Arc::clone(&heard));
                move || {
                    let (store, heard) = (Arc::clone(&store), Arc::clone(&heard));
                    Batcher::spawn(move |set| place(Arc::clone(&store), Arc::clone(&heard), set))
                }
            }),
            pay: Lanes::new({
                let store = Arc::clone(store);
                move || {
                    let (store, heard) = (Arc::clone(&store), Arc::clone(&heard));
                    Batcher::spawn(move |set| pay(Arc::clone(&store), Arc::clone(&heard), set))
                }
            }),
            cancel: Lanes::new({
                let store = Arc::clone(store);
                move || {
                    let store = Arc::clone(&store);
                    Batcher::spawn(move |set| run_set(Arc::clone(&store), Arc::new(Cancel), set))
                }
            }),
        }
    }

    /// Places an order, unless too many wait: the one request that may be turned away for that.
    ///
    /// # Errors
    /// [`Failure`] says whether it is the input or the moment.
    pub async fn place(&self, new: NewOrder) -> Result<PlaceOutcome, Failure> {
        let lowest = new.lines().iter().map(|(sku, _)| sku).min();
        let lane = lowest.filter(|_| self.in_lanes).map_or(0, sku_lane);
        Ok(self.place.try_submit(lane, new).await??)
    }

    /// Takes a payment; waits as long as it takes.
    ///
    /// # Errors
    /// As [`Desk::place`].
    pub async fn pay(&self, incoming: Incoming) -> Result<PayOutcome, Failure> {
        let lane = incoming.order().map_or(0, |order| self.order_lane(order));
        Ok(self.pay.submit(lane, incoming).await??)
    }

    /// Cancels an order.
    ///
    /// # Errors
    /// As [`Desk::place`].
    pub async fn cancel(&self, wish: Cancellation) -> Result<CancelOutcome, Failure> {
        Ok(self.cancel.submit(self.order_lane(wish.order), wish).await??)
    }

    /// Everything about one order is in one lane.
    fn order_lane(&self, order: OrderId) -> u64 {
        // The last bits of an id are random.
        if self.in_lanes { order.uuid().as_u64_pair().1 % ORDER_LANES } else { 0 }
    }
}

fn sku_lane(sku: &Sku) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(sku) % SKU_LANES
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn made_up_skus_make_no_more_lanes_than_there_are() {
        let skus = (0..1_000).filter_map(|n| Sku::parse(&format!("nothing-{n}")).ok());
        let lanes: HashSet<u64> = skus.map(|sku| sku_lane(&sku)).collect();
        assert!(lanes.len() > 1 && lanes.iter().all(|lane| *lane < SKU_LANES), "{lanes:?}");
    }
}
