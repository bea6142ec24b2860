//! Expire: holds that ended give their claims back.

use async_trait::async_trait;
use tessera_faults::{Break, broken};
use tessera_model::ids::OrderId;
use tessera_model::order::{OrderEvent, OrderState};
use tessera_store::{Result, Step, Tx};

use crate::release;

/// The step. Its inputs were due when they were read; under the lock they are looked at again, for a payment
/// may have come first.
pub struct Expire;

#[async_trait]
impl Step for Expire {
    const NAME: &str = "expire";
    type Input = OrderId;
    /// Whether it expired.
    type Output = bool;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[OrderId], _again: bool) -> Result<Vec<bool>> {
        let now = tx.now();
        let mut locked = release::lock(tx, inputs).await?;
        let due = locked.orders.values().filter(|order| match order.state {
            OrderState::AwaitingPayment { hold_expires_at } => hold_expires_at <= now,
            OrderState::Paid { .. }
            | OrderState::Backordered { .. }
            | OrderState::Issued { .. }
            | OrderState::Expired { .. }
            | OrderState::Cancelled { .. }
            | OrderState::RefundDue { .. }
            | OrderState::Refunded { .. } => broken(Break::ReleaseWithoutRecheck),
        });
        locked.chosen = due.map(|order| order.id).collect();
        let outcomes = inputs.iter().map(|id| locked.chosen.contains(id)).collect();
        release::release(tx, locked, OrderEvent::Expired).await?;
        Ok(outcomes)
    }
}
