//! A subscription to wake-ups: a bounded broadcast that drops the oldest.

use async_trait::async_trait;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::Wakes;

/// One subscriber's place in the broadcast.
pub(super) struct InProcessWakes {
    receiver: Receiver<Vec<u8>>,
}

impl InProcessWakes {
    pub(super) fn new(receiver: Receiver<Vec<u8>>) -> Self {
        Self { receiver }
    }
}

#[async_trait]
impl Wakes for InProcessWakes {
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.receiver.recv().await {
                Ok(body) => return Some(body),
                // What it missed, the subscriber's own re-check finds.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
