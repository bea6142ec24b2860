//! What operators do to one order. Prints the order as it is then; what was done already is no failure.

use std::sync::Arc;

use tessera_api::Deed;
use tessera_model::text::Reason;
use tessera_orders::operators::{Accept, By, CancelFor, DeedOutcome, Refund, Wish};
use tessera_store::{Step, run_set};

use super::{order_id, show};
use crate::Outcome;
use crate::cli;
use crate::commands::ACTOR;
use crate::failure::Failure;
use crate::output::Output;
use crate::shop::Shop;

/// A running server notices by itself: it publishes an order that was accepted, and shows what became of any.
pub(super) async fn run(shop: &Shop, deed: Deed, wanted: &cli::Deed, output: Output) -> Outcome {
    let order = order_id(&wanted.id)?;
    let reason = Reason::parse(&wanted.reason).map_err(|e| Failure::usage(format!("--reason {e}")))?;
    let wish = Wish { order, by: By { actor: ACTOR.to_owned(), reason } };
    let outcome = match deed {
        Deed::Refund => alone(shop, Refund, wish).await,
        Deed::Accept => alone(shop, Accept, wish).await,
        Deed::Cancel => alone(shop, CancelFor, wish).await,
    }?;
    deed.done(outcome)?;
    show::show(shop, order, output).await
}

async fn alone(
    shop: &Shop,
    step: impl Step<Input = Wish, Output = DeedOutcome>,
    wish: Wish,
) -> Result<DeedOutcome, Failure> {
    let mut outcomes = run_set(Arc::clone(&shop.store), Arc::new(step), vec![wish]).await;
    let outcome = outcomes.pop().ok_or_else(|| Failure::no("the step gave no outcome"))?;
    outcome.map_err(Failure::from)
}
