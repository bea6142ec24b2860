//! Waitlists: who waits for a product, strictly by (paid at, order).

use async_trait::async_trait;
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::issue::Turn;
use tessera_model::time::Timestamp;

use crate::error::Result;

/// Operations on waitlists.
#[async_trait]
pub trait WaitlistOps {
    /// The first `limit` of each product's waitlist, from the head. An order with a dead letter open or replaying
    /// holds nobody up: it is left out until its letter is settled, and has its turn again then.
    async fn waitlists_read(&mut self, products: &[ProductId], limit: i64) -> Result<Vec<(ProductId, Turn)>>;

    /// Those of these orders that stand in any waitlist, unlocked.
    async fn waitlists_of(&mut self, orders: &[OrderId]) -> Result<Vec<OrderId>>;

    /// Adds orders to waitlists.
    async fn waitlists_join(&mut self, joined: &[(ProductId, Turn)]) -> Result<()>;

    /// Takes orders out of every waitlist.
    async fn waitlists_leave(&mut self, orders: &[OrderId]) -> Result<()>;

    /// Heads of waitlists that the unissued codes of their product suffice for, untold since before
    /// `before`, without a live dead letter; with the product that chooses the order's queue.
    async fn waitlists_fillable(
        &mut self,
        before: Timestamp,
        limit: i64,
    ) -> Result<Vec<(OrderId, ProductId)>>;

    /// Notes that these heads were published again.
    async fn waitlists_told(&mut self, orders: &[OrderId]) -> Result<()>;
}
