//! The seam itself: three `dyn`-compatible traits.
//!
//! A twin promises what the suite in `conformance` checks, no more. Delivery is at least once, in
//! order of publication except for what came back, to one active consumer per partition; that is a
//! convenience for speed, and nothing may rest its safety on it.

use async_trait::async_trait;

use crate::{BrokerError, Delivery, Finding, Message, PublishError};

/// A broker, shared by everything in the process.
#[async_trait]
pub trait Broker: Send + Sync + 'static {
    /// Makes sure that the exchanges and durable queues exist as this program wants them.
    ///
    /// An issuer calls it before it consumes; asking again is cheap and no error. Until it was called
    /// once, publishing may find no exchange and answer `Away`.
    ///
    /// # Errors
    /// `Away` or `Closed`, and `Topology` if one exists with other arguments: what differs is left as it is.
    async fn declare(&self) -> Result<(), BrokerError>;

    /// Looks at what [`Broker::declare`] makes, and creates nothing. For `doctor`.
    async fn topology(&self) -> Result<Vec<Finding>, BrokerError>;

    /// Publishes messages; one result per message, in order.
    ///
    /// `Ok` only when the broker has confirmed the message *and* it was routed to a queue. A message
    /// with an error may be in a queue all the same (an answer that was lost). Dropping the future
    /// leaves each message published or not.
    async fn publish(&self, messages: Vec<Message>) -> Vec<Result<(), PublishError>>;

    /// Registers a consumer of a partition's issue queue; returns once registered.
    ///
    /// The first registered is active; the others stand by and take over in order of registration.
    /// At most `prefetch` deliveries are unacknowledged at a time; 0 counts as 1.
    ///
    /// # Errors
    /// `Away` or `Closed`, and `NoQueue` if the partition's queue neither exists nor can be declared.
    async fn consume(&self, partition: u16, prefetch: u16) -> Result<Box<dyn Consumer>, BrokerError>;

    /// Registers a consumer of the dead letters: what the broker itself gave up delivering.
    ///
    /// It behaves as one of [`Broker::consume`], but several share the letters between them.
    async fn consume_dead(&self, prefetch: u16) -> Result<Box<dyn Consumer>, BrokerError>;

    /// Sends a transient wake-up to every subscriber; losing one is allowed.
    async fn wake(&self, body: Vec<u8>) -> Result<(), BrokerError>;

    /// Subscribes to the wake-ups sent from now on.
    async fn wakes(&self) -> Result<Box<dyn Wakes>, BrokerError>;

    /// Counts the messages ready in a partition's issue queue, unacknowledged ones not counted.
    ///
    /// What a broker has pushed ahead to a consumer, up to its prefetch, may count as
    /// unacknowledged before the consumer has taken it.
    async fn depth(&self, partition: u16) -> Result<u64, BrokerError>;

    /// Checks that the broker answers.
    async fn ping(&self) -> Result<(), BrokerError>;

    /// Lets what is being published finish, within a bound, and ends every session and subscription.
    ///
    /// From then on everything says `Closed`, and publishing `Away`.
    async fn close(&self);
}

/// One consumer's session on one partition's queue.
///
/// Dropping it closes it.
#[async_trait]
pub trait Consumer: Send {
    /// Waits for a first delivery, then takes what else is ready without waiting, `max` in all.
    ///
    /// Never returns an empty set; a `max` of 0 counts as 1. Waits while the consumer stands by and
    /// while its prefetch is used up. Dropping the future loses no delivery.
    ///
    /// # Errors
    /// Any error means that the session is over: build a new one, unless it says `Closed`.
    async fn next_set(&mut self, max: usize) -> Result<Vec<Delivery>, BrokerError>;

    /// Acknowledges every delivery taken, up to and including `tag`.
    ///
    /// `Ok` does not say that the broker has heard it: after an outage they may come again.
    ///
    /// # Errors
    /// Any error means that the session is over and what it named comes again. A tag that is not
    /// among the unacknowledged ends the session with `SessionLost`.
    async fn acknowledge(&mut self, tag: u64) -> Result<(), BrokerError>;

    /// Ends the session: everything unacknowledged goes back, marked redelivered.
    async fn close(self: Box<Self>);
}

/// A subscription to wake-ups.
#[async_trait]
pub trait Wakes: Send {
    /// Waits for the next wake-up; `None` once the subscription is lost.
    ///
    /// A subscriber that lags misses the oldest and goes on. Dropping the future loses none.
    async fn next(&mut self) -> Option<Vec<u8>>;
}
