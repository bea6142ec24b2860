//! Raffles and their rounds.

use async_trait::async_trait;
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::keys::WrappedKey;
use tessera_model::round::{Drawn, NewRound, OpenRound, Round, Turned};
use tessera_model::time::Timestamp;

use crate::error::Result;

/// What is kept of a raffle beside its product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRaffle {
    /// The product.
    pub product: ProductId,
    /// Its own key, wrapped for (`raffle`, product).
    pub key: WrappedKey,
    /// The highest number of its rounds; 0 before the first.
    pub last: i64,
    /// The round on sale.
    pub round: Option<OpenRound>,
}

/// A round about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundToOpen {
    /// The round.
    pub round: NewRound,
    /// Its batch's own key, wrapped for (`batch`, id).
    pub key: WrappedKey,
    /// What the very set that opens it sold of it, if it did.
    pub turned: Option<Turned>,
}

/// Shares of an order in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The order.
    pub order: OrderId,
    /// The line that paid for it.
    pub line: i32,
    /// The first position.
    pub start: i64,
    /// The first position after it.
    pub upto: i64,
}

/// Operations on raffles and rounds. Whoever opens or sells a round holds the raffle's stock row.
#[async_trait]
pub trait RoundOps {
    /// Keeps the own keys of new raffles.
    async fn raffles_put(&mut self, raffles: &[(ProductId, WrappedKey)]) -> Result<()>;

    /// What is kept of the raffles among these products, their rounds on sale locked.
    async fn raffles_read(&mut self, products: &[ProductId]) -> Result<Vec<StoredRaffle>>;

    /// Opens rounds: batch, anchor and round each.
    ///
    /// # Errors
    /// `Data` when a round of the raffle is on sale, or had this number.
    async fn rounds_open(&mut self, rounds: &[RoundToOpen]) -> Result<()>;

    /// Moves rounds on sale on; one that is full is closed now, and its draw dated.
    async fn rounds_turn(&mut self, turned: &[(BatchId, Turned)]) -> Result<()>;

    /// Whether orders of these raffles claim; `claimed` becomes what pending orders hold, or nothing.
    async fn stock_claims(&mut self, products: &[(ProductId, bool)]) -> Result<()>;

    /// Rounds as they are.
    async fn rounds_read(&mut self, ids: &[BatchId]) -> Result<Vec<Round>>;

    /// Rounds as they are, locked lowest id first.
    async fn rounds_lock(&mut self, ids: &[BatchId]) -> Result<Vec<Round>>;

    /// Rounds newest first, of one raffle or of all.
    async fn rounds_list(
        &mut self,
        product: Option<ProductId>,
        before: Option<BatchId>,
        limit: i64,
    ) -> Result<Vec<Round>>;

    /// The rounds on sale of these raffles.
    async fn rounds_on_sale(&mut self, products: &[ProductId]) -> Result<Vec<Round>>;

    /// Full rounds whose draw is due at `now`, oldest first, behind the round `after`; without those that wait for a
    /// beacon's value, unless none of their shares was sold.
    async fn rounds_due(
        &mut self,
        now: Timestamp,
        after: Option<BatchId>,
        limit: i64,
    ) -> Result<Vec<BatchId>>;

    /// The shares of a round in order of position.
    async fn rounds_shares(&mut self, id: BatchId) -> Result<Vec<Share>>;

    /// Keeps a beacon's value for a full round; false when it has one.
    async fn rounds_entropy(&mut self, id: BatchId, entropy: &[u8]) -> Result<bool>;

    /// Writes draws of full rounds; returns those that were drawn by it.
    async fn rounds_drawn(&mut self, drawn: &[(BatchId, Drawn)]) -> Result<Vec<BatchId>>;

    /// Calls off a round that is not drawn; false when it is drawn or called off.
    async fn rounds_cancel(&mut self, id: BatchId) -> Result<bool>;

    /// Those of these orders with shares in a round that is neither drawn nor called off: their shares are final.
    async fn orders_undrawn(&mut self, orders: &[OrderId]) -> Result<Vec<OrderId>>;

    /// The own key of a round's raffle.
    async fn raffles_key(&mut self, product: ProductId) -> Result<Option<WrappedKey>>;
}
