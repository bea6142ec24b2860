//! The broker of a single process: bounded queues in memory.
//!
//! It is no store: a crash empties it, and the sweeper publishes what is still `paid`. It starts no
//! task and keeps no clock. The binary builds it for `embedded:`; tests build it everywhere, and
//! [`InProcess::stop`], [`InProcess::restart`] and [`InProcess::purge`] are for them.

mod queue;
mod shared;

mod consumer;
mod wakes;

#[cfg(test)]
mod stress;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;

use self::{
    consumer::InProcessConsumer,
    shared::{Phase, Queued, Shared},
    wakes::InProcessWakes,
};
use crate::{Broker, BrokerError, Consumer, Finding, Message, PublishError, Wakes};

/// How many messages an issue queue holds by default, unacknowledged ones included.
///
/// A few seconds of the fastest issuer. What finds it full is left to the sweeper.
pub const QUEUE_CAPACITY: usize = 65_536;

/// How many wake-ups a lagging subscriber may be behind before it misses the oldest.
pub const WAKES_CAPACITY: usize = 256;

/// A broker inside the process.
///
/// Dropping it closes it: consumers get `Closed`, wake-up subscriptions end.
pub struct InProcess {
    shared: Arc<Shared>,
}

impl InProcess {
    /// Declares the issue queues of partitions `0..partitions`, [`QUEUE_CAPACITY`] each.
    pub fn new(partitions: u16) -> Self {
        Self::with_capacity(partitions, QUEUE_CAPACITY)
    }

    /// Declares the issue queues of partitions `0..partitions`, `capacity` messages each.
    pub fn with_capacity(partitions: u16, capacity: usize) -> Self {
        Self { shared: Arc::new(Shared::new(partitions, capacity)) }
    }

    /// Goes away: sessions and subscriptions are lost, and every call gives `Away`.
    ///
    /// Queued messages stay, unacknowledged ones among them, marked redelivered.
    pub fn stop(&self) {
        self.shared.halt(Phase::Stopped);
    }

    /// Comes back after [`InProcess::stop`].
    pub fn restart(&self) {
        self.shared.restart();
    }

    /// Throws away the messages ready in a partition's queue and says how many; also while stopped.
    ///
    /// # Errors
    /// `NoQueue` if there is no such partition.
    pub fn purge(&self, partition: u16) -> Result<u64, BrokerError> {
        self.shared.purge(partition)
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.shared.halt(Phase::Closed);
    }
}

#[async_trait]
impl Broker for InProcess {
    async fn declare(&self) -> Result<(), BrokerError> {
        self.shared.ping()
    }

    async fn topology(&self) -> Result<Vec<Finding>, BrokerError> {
        self.shared.ping().map(|()| Vec::new())
    }

    async fn publish(&self, messages: Vec<Message>) -> Vec<Result<(), PublishError>> {
        self.shared.publish(messages)
    }

    async fn consume(&self, partition: u16, prefetch: u16) -> Result<Box<dyn Consumer>, BrokerError> {
        Ok(Box::new(InProcessConsumer::register(
            Arc::clone(&self.shared),
            Queued::Issue(partition),
            prefetch,
        )?))
    }

    async fn consume_dead(&self, prefetch: u16) -> Result<Box<dyn Consumer>, BrokerError> {
        Ok(Box::new(InProcessConsumer::register(Arc::clone(&self.shared), Queued::Dead, prefetch)?))
    }

    async fn wake(&self, body: Vec<u8>) -> Result<(), BrokerError> {
        self.shared.wake(body)
    }

    async fn wakes(&self) -> Result<Box<dyn Wakes>, BrokerError> {
        Ok(Box::new(InProcessWakes::new(self.shared.wakes()?)))
    }

    async fn depth(&self, partition: u16) -> Result<u64, BrokerError> {
        self.shared.depth(partition)
    }

    async fn ping(&self) -> Result<(), BrokerError> {
        self.shared.ping()
    }

    async fn close(&self) {
        self.shared.halt(Phase::Closed);
    }
}
