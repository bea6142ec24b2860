//! Place: new orders claim stock.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use async_trait::async_trait;
use tessera_model::ids::OrderId;
use tessera_model::place::{NewOrder, Placed, Refusal, Shelf};
use tessera_model::text::Sku;
use tessera_model::time::Timestamp;
use tessera_store::{Result, Step, Tx};

use crate::ledger::{Moves, lines_of};
use crate::shelf;

mod requests;

use requests::Requests;

/// How long a repeated request finds the order it made.
pub const REQUEST_KEPT: Duration = Duration::from_hours(48);

/// What became of a new order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceOutcome {
    /// It was placed.
    Placed(Box<Placed>),
    /// The request was made before; this is its order.
    Repeated(OrderId),
    /// Its key was used for another request.
    KeyReused,
    /// It was refused; nothing of it is kept.
    Refused(Refusal),
}

/// The step.
pub struct Place;

#[async_trait]
impl Step for Place {
    const NAME: &str = "place";
    type Input = NewOrder;
    type Output = PlaceOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[NewOrder], again: bool) -> Result<Vec<PlaceOutcome>> {
        let now = tx.now();
        let mut requests = Requests::claim(tx, inputs, now.minus(REQUEST_KEPT)).await?;
        let mut shelf = shelf_for(tx, inputs).await?;
        // After the locks: the commit that was in doubt may still be under way, and holds them until it is done.
        let stored = if again { stored(tx, inputs).await? } else { HashMap::new() };

        let outcomes: Vec<PlaceOutcome> = inputs
            .iter()
            .map(|new| match stored.get(&new.id) {
                Some(placed) => PlaceOutcome::Placed(Box::new(placed.clone())),
                None => decide(new, &mut requests, &mut shelf, now),
            })
            .collect();

        requests.settle(tx).await?;
        write(tx, &outcomes, &stored).await?;
        forget(tx, inputs, &outcomes).await?;
        Ok(outcomes)
    }
}

fn decide(new: &NewOrder, requests: &mut Requests, shelf: &mut Shelf, now: Timestamp) -> PlaceOutcome {
    if let Some(repeat) = requests.repeat_of(new) {
        return repeat;
    }
    match shelf.place(new, now) {
        Ok(placed) => {
            requests.accepted(new);
            PlaceOutcome::Placed(Box::new(placed))
        }
        Err(refusal) => PlaceOutcome::Refused(refusal),
    }
}

async fn shelf_for(tx: &mut dyn Tx, inputs: &[NewOrder]) -> Result<Shelf> {
    let skus: BTreeSet<Sku> =
        inputs.iter().flat_map(|new| new.lines().iter().map(|(sku, _)| sku.clone())).collect();
    let products = tx.products_of(&skus.into_iter().collect::<Vec<_>>()).await?;
    let customers: Vec<_> = inputs.iter().map(|new| new.customer.clone()).collect();
    shelf::locked(tx, products.into_iter().map(|product| product.id), &customers).await
}

/// Orders of this very set that an earlier run of it has stored.
async fn stored(tx: &mut dyn Tx, inputs: &[NewOrder]) -> Result<HashMap<OrderId, Placed>> {
    let ids: Vec<OrderId> = inputs.iter().map(|new| new.id).collect();
    let orders = tx.orders_read(&ids).await?;
    let mut lines = lines_of(tx, &ids).await?;
    let placed = |order: tessera_model::order::Order| {
        let lines = lines.remove(&order.id).unwrap_or_default();
        (order.id, Placed { order, lines })
    };
    Ok(orders.into_iter().map(placed).collect())
}

/// Customers were inserted to be locked; those who got nothing are forgotten again.
async fn forget(tx: &mut dyn Tx, inputs: &[NewOrder], outcomes: &[PlaceOutcome]) -> Result<()> {
    let refused = inputs.iter().zip(outcomes).filter(|(_, o)| !matches!(o, PlaceOutcome::Placed(_)));
    let refused: Vec<_> = refused.map(|(new, _)| new.customer.clone()).collect();
    if refused.is_empty() { Ok(()) } else { tx.customers_forget(&refused).await }
}

async fn write(tx: &mut dyn Tx, outcomes: &[PlaceOutcome], stored: &HashMap<OrderId, Placed>) -> Result<()> {
    let placed: Vec<Placed> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            PlaceOutcome::Placed(placed) => Some(Placed::clone(placed)),
            PlaceOutcome::Repeated(_) | PlaceOutcome::KeyReused | PlaceOutcome::Refused(_) => None,
        })
        .filter(|placed| !stored.contains_key(&placed.order.id))
        .collect();
    if placed.is_empty() {
        return Ok(());
    }
    let mut moves = Moves::default();
    for Placed { order, lines } in &placed {
        moves.add(&order.customer, lines, 1);
    }
    tx.orders_insert(&placed).await?;
    moves.write(tx).await
}
