//! Cancel, by an operator: an order that still waits for its payment gives its claim back.

use std::collections::BTreeSet;

use async_trait::async_trait;
use tessera_model::ids::OrderId;
use tessera_model::order::{OrderEvent, OrderState};
use tessera_store::{Result, Step, Tx};

use super::{DeedOutcome, Wish};
use crate::release::{Locked, lock, release};

/// The step.
pub struct CancelFor;

#[async_trait]
impl Step for CancelFor {
    const NAME: &str = "cancel-for";
    type Input = Wish;
    type Output = DeedOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[Wish], _again: bool) -> Result<Vec<DeedOutcome>> {
        let ids: Vec<OrderId> = inputs.iter().map(|wish| wish.order).collect();
        let mut locked = lock(tx, &ids).await?;
        let mut entries = vec![];
        let outcomes = inputs.iter().map(|wish| {
            let outcome = cancel(wish.order, &mut locked);
            if outcome == DeedOutcome::DONE {
                entries.push(wish.by.entry("order.cancel", wish.order.to_string()));
            }
            outcome
        });
        let outcomes = outcomes.collect();
        release(tx, locked, OrderEvent::Cancelled).await?;
        if !entries.is_empty() {
            tx.audit_append(&entries).await?;
        }
        Ok(outcomes)
    }
}

fn cancel(id: OrderId, locked: &mut Locked) -> DeedOutcome {
    let Some(order) = locked.orders.get(&id) else { return DeedOutcome::NotFound };
    let chosen: &mut BTreeSet<OrderId> = &mut locked.chosen;
    match order.state {
        OrderState::AwaitingPayment { .. } if chosen.insert(id) => DeedOutcome::DONE,
        state @ (OrderState::AwaitingPayment { .. } | OrderState::Cancelled { .. }) => {
            DeedOutcome::Already(state.status())
        }
        state => DeedOutcome::Refused(state.status()),
    }
}
