//! Orders, their lines, and the requests that repeat.

use std::time::Duration;

use async_trait::async_trait;
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::order::{Line, Order, OrderState, OrderStatus};
use tessera_model::place::{Placed, RequestKey};
use tessera_model::text::{CustomerId, Reference};
use tessera_model::time::Timestamp;

use crate::error::Result;

/// An order's next state. Applied only to the version it was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The order.
    pub id: OrderId,
    /// The version that was locked.
    pub version: i64,
    /// What it becomes.
    pub state: OrderState,
}

/// A request that made an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRequest {
    /// How it is recognised.
    pub request: RequestKey,
    /// What it made.
    pub order: OrderId,
}

/// An order that has been paid so long and has no codes is stuck: a message that was lost is sent again within seconds.
pub const STUCK_AFTER: Duration = Duration::from_mins(1);

/// Which orders to list. All parts have to hold.
#[derive(Clone, Debug, Default)]
pub struct OrderFilter {
    /// Only this one.
    pub id: Option<OrderId>,
    /// Only in this state.
    pub status: Option<OrderStatus>,
    /// Only of this customer.
    pub customer: Option<CustomerId>,
    /// Only those a payment with this reference was matched with.
    pub reference: Option<Reference>,
    /// Only those placed at this time or later.
    pub from: Option<Timestamp>,
    /// Only those placed before this time.
    pub to: Option<Timestamp>,
    /// Only those that have been paid and without codes since before this time, or that have a dead letter.
    pub stuck: Option<Timestamp>,
    /// Only older ones than this.
    pub before: Option<OrderId>,
}

/// How far an order's id may be from when it was placed.
const ID_WITHIN: Duration = Duration::from_hours(24);

/// The ids between which orders placed in this time are, so that not every order is looked at.
pub fn ids_created(from: Timestamp, to: Timestamp) -> (OrderId, OrderId) {
    (OrderId::new(from.minus(ID_WITHIN), [0; 10]), OrderId::new(to.plus(ID_WITHIN), [0xff; 10]))
}

/// Operations on orders.
#[async_trait]
pub trait OrderOps {
    /// Claims request keys for orders about to be inserted: returns the keys that were free, or older than
    /// `stale`. Comes before every lock.
    async fn requests_claim(&mut self, wanted: &[KnownRequest], stale: Timestamp) -> Result<Vec<[u8; 32]>>;

    /// The requests that hold these keys.
    async fn requests_read(&mut self, keys: &[[u8; 32]]) -> Result<Vec<KnownRequest>>;

    /// Frees keys whose order was refused.
    async fn requests_release(&mut self, keys: &[[u8; 32]]) -> Result<()>;

    /// Forgets requests older than `stale`, at most `limit`; returns how many.
    async fn requests_purge(&mut self, stale: Timestamp, limit: i64) -> Result<u64>;

    /// Inserts orders with their lines.
    async fn orders_insert(&mut self, placed: &[Placed]) -> Result<()>;

    /// Locks orders, lowest id first, and returns them as they are; unknown ones are absent.
    async fn orders_lock(&mut self, ids: &[OrderId]) -> Result<Vec<Order>>;

    /// Orders as they are, unlocked.
    async fn orders_read(&mut self, ids: &[OrderId]) -> Result<Vec<Order>>;

    /// Versions alone: what waiters look at again and again.
    async fn orders_versions(&mut self, ids: &[OrderId]) -> Result<Vec<(OrderId, i64)>>;

    /// Lines, by order and number. They are immutable, so no lock is needed.
    async fn lines_read(&mut self, ids: &[OrderId]) -> Result<Vec<(OrderId, Line)>>;

    /// Moves orders on and raises their version; returns those that were still at the version given.
    async fn orders_advance(&mut self, advances: &[Advance]) -> Result<Vec<OrderId>>;

    /// Orders newest first.
    async fn orders_list(&mut self, filter: &OrderFilter, limit: i64) -> Result<Vec<Order>>;

    /// Orders placed at `from` or later and before `to`, newest first.
    ///
    /// An order's id is made within a day of when it was placed; further than that no clock is taken to be off.
    async fn orders_created(
        &mut self,
        from: Timestamp,
        to: Timestamp,
        before: Option<OrderId>,
        limit: i64,
    ) -> Result<Vec<Order>>;

    /// Orders whose hold ended at `now` or before, oldest first.
    async fn orders_due(&mut self, now: Timestamp, limit: i64) -> Result<Vec<OrderId>>;

    /// Orders that have been paid, untold, since before `before`, oldest first (of those told at once whoever paid
    /// first), with the product that chooses their queue. Those with a dead letter open or replaying are left out.
    async fn orders_unheard(&mut self, before: Timestamp, limit: i64) -> Result<Vec<(OrderId, ProductId)>>;

    /// The products that choose the queues of these orders.
    async fn orders_products(&mut self, ids: &[OrderId]) -> Result<Vec<(OrderId, ProductId)>>;

    /// Notes that these orders were published again.
    async fn orders_told(&mut self, ids: &[OrderId]) -> Result<()>;
}
