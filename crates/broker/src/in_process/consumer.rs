//! A consumer's handle on its session in a queue.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::shared::{Queued, Shared};
use crate::{BrokerError, Consumer, Delivery};

/// A session; dropping it ends the session.
pub(super) struct InProcessConsumer {
    shared: Arc<Shared>,
    queued: Queued,
    session: u64,
    changed: Arc<Notify>,
}

impl InProcessConsumer {
    pub(super) fn register(shared: Arc<Shared>, queued: Queued, prefetch: u16) -> Result<Self, BrokerError> {
        let (session, changed) = shared.register(queued, prefetch)?;
        Ok(Self { shared, queued, session, changed })
    }
}

#[async_trait]
impl Consumer for InProcessConsumer {
    async fn next_set(&mut self, max: usize) -> Result<Vec<Delivery>, BrokerError> {
        loop {
            // Made before looking: it then hears every change from here on, even unpolled.
            let changed = self.changed.notified();
            let set = self.shared.take(self.queued, self.session, max)?;
            // No await lies between taking and returning, so a dropped future has taken nothing.
            if !set.is_empty() {
                return Ok(set);
            }
            changed.await;
        }
    }

    async fn acknowledge(&mut self, tag: u64) -> Result<(), BrokerError> {
        self.shared.acknowledge(self.queued, self.session, tag)
    }

    async fn close(self: Box<Self>) {}
}

impl Drop for InProcessConsumer {
    fn drop(&mut self) {
        self.shared.end(self.queued, self.session);
    }
}
