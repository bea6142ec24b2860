//! A consumer whose acknowledgements are counted, and whose sets can be whole.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use tessera_broker::{BrokerError, Consumer, Delivery};

use super::tally::Tally;

/// A session over that of a twin.
pub(super) struct Counted {
    consumer: Box<dyn Consumer>,
    prefetch: usize,
    tally: Arc<Tally>,
    /// Taken from the twin, not handed out yet. Here, so that a dropped wait loses none.
    gathered: Vec<Delivery>,
    /// The tags handed out and not acknowledged, ascending.
    in_hand: VecDeque<u64>,
}

impl Counted {
    pub(super) fn new(consumer: Box<dyn Consumer>, prefetch: u16, tally: Arc<Tally>) -> Self {
        let prefetch = usize::from(prefetch.max(1));
        Self { consumer, prefetch, tally, gathered: vec![], in_hand: VecDeque::new() }
    }

    /// How many the next set has to hold; for whole sets this has to be the one active consumer.
    fn wanted(&self, max: usize) -> usize {
        if !self.tally.has_whole_sets() {
            return 1;
        }
        let left = usize::try_from(self.tally.left()).unwrap_or(usize::MAX);
        let coming = left.min(self.prefetch).saturating_sub(self.in_hand.len());
        coming.clamp(1, max.max(1))
    }
}

#[async_trait]
impl Consumer for Counted {
    async fn next_set(&mut self, max: usize) -> Result<Vec<Delivery>, BrokerError> {
        while self.gathered.len() < self.wanted(max) {
            let room = max.max(1) - self.gathered.len();
            self.gathered.extend(self.consumer.next_set(room).await?);
        }
        let set = std::mem::take(&mut self.gathered);
        self.in_hand.extend(set.iter().map(|delivery| delivery.tag));
        Ok(set)
    }

    async fn acknowledge(&mut self, tag: u64) -> Result<(), BrokerError> {
        self.consumer.acknowledge(tag).await?;
        let count = self.in_hand.iter().take_while(|held| **held <= tag).count();
        self.in_hand.drain(..count);
        self.tally.gone(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(())
    }

    async fn close(self: Box<Self>) {
        self.consumer.close().await;
    }
}
