//! Customers: what their limits are counted by.

use async_trait::async_trait;
use tessera_model::ids::ProductId;
use tessera_model::place::Standing;
use tessera_model::text::CustomerId;

use crate::error::Result;

/// Operations on customers.
#[async_trait]
pub trait CustomerOps {
    /// Inserts those that are new and locks all of them, lowest folded id first.
    async fn customers_lock(&mut self, customers: &[CustomerId]) -> Result<()>;

    /// Forgets those of these customers that this transaction inserted and that no order and no counter refers to:
    /// what is refused leaves nothing.
    async fn customers_forget(&mut self, customers: &[CustomerId]) -> Result<()>;

    /// What is known of each customer: by folded id, about the products given.
    async fn customers_standing(
        &mut self,
        customers: &[CustomerId],
        products: &[ProductId],
    ) -> Result<Vec<(String, Standing)>>;

    /// Adds to the units a customer has of a product; what is given several times moves by the sum.
    async fn customers_move(&mut self, deltas: &[(CustomerId, ProductId, i64)]) -> Result<()>;
}
