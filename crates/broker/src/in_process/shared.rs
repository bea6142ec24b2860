//! The state behind the handles: every queue, the wake-ups, and whether the broker is there at all.
//!
//! One lock for all of it, held for the copying of one set and never over an await, so that a set is
//! published as a whole before a consumer sees its first message.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, broadcast};

use super::{WAKES_CAPACITY, queue::Queue};
use crate::{BrokerError, Delivery, Message, PublishError};

/// Whether the broker is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It works.
    Running,
    /// It is away and may come back.
    Stopped,
    /// Its handle is gone.
    Closed,
}

/// Which queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queued {
    /// A partition's issue queue.
    Issue(u16),
    /// The dead letters. Nothing gives up delivering inside a process, so it stays empty.
    Dead,
}

/// What the broker, its consumers and its subscriptions share.
pub(super) struct Shared {
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    queues: Vec<Queue>,
    dead: Queue,
    wakes: broadcast::Sender<Vec<u8>>,
}

impl Shared {
    pub(super) fn new(partitions: u16, capacity: usize) -> Self {
        let queues = (0..partitions).map(|_| Queue::new(capacity)).collect();
        let (wakes, _) = broadcast::channel(WAKES_CAPACITY);
        let dead = Queue::new(0);
        Self { state: Mutex::new(State { phase: Phase::Running, queues, dead, wakes }) }
    }

    pub(super) fn publish(&self, messages: Vec<Message>) -> Vec<Result<(), PublishError>> {
        let mut state = self.state();
        messages.into_iter().map(|message| state.publish(message)).collect()
    }

    /// Registers a consumer; gives its session's id and what is notified when it should look again.
    pub(super) fn register(&self, queued: Queued, prefetch: u16) -> Result<(u64, Arc<Notify>), BrokerError> {
        let mut state = self.running()?;
        let queue = state.queue(queued)?;
        Ok((queue.register(prefetch), queue.changed()))
    }

    pub(super) fn take(
        &self,
        queued: Queued,
        session: u64,
        max: usize,
    ) -> Result<Vec<Delivery>, BrokerError> {
        self.not_closed()?.queue(queued)?.take(session, max)
    }

    pub(super) fn acknowledge(&self, queued: Queued, session: u64, tag: u64) -> Result<(), BrokerError> {
        self.not_closed()?.queue(queued)?.acknowledge(session, tag)
    }

    pub(super) fn end(&self, queued: Queued, session: u64) {
        if let Ok(queue) = self.state().queue(queued) {
            queue.end(session);
        }
    }

    pub(super) fn wake(&self, body: Vec<u8>) -> Result<(), BrokerError> {
        // An error only says that nobody subscribes.
        let _ = self.running()?.wakes.send(body);
        Ok(())
    }

    pub(super) fn wakes(&self) -> Result<broadcast::Receiver<Vec<u8>>, BrokerError> {
        Ok(self.running()?.wakes.subscribe())
    }

    pub(super) fn depth(&self, partition: u16) -> Result<u64, BrokerError> {
        Ok(self.running()?.queue(Queued::Issue(partition))?.depth())
    }

    pub(super) fn ping(&self) -> Result<(), BrokerError> {
        self.running().map(|_| ())
    }

    pub(super) fn purge(&self, partition: u16) -> Result<u64, BrokerError> {
        Ok(self.state().queue(Queued::Issue(partition))?.purge())
    }

    /// Ends every session and every subscription, and stays in `phase`.
    pub(super) fn halt(&self, phase: Phase) {
        let mut state = self.state();
        state.phase = phase;
        state.queues.iter_mut().for_each(Queue::end_all);
        state.dead.end_all();
        // Subscriptions end when the sender they hang on is dropped.
        (state.wakes, _) = broadcast::channel(WAKES_CAPACITY);
    }

    pub(super) fn restart(&self) {
        self.state().phase = Phase::Running;
    }

    fn running(&self) -> Result<MutexGuard<'_, State>, BrokerError> {
        let state = self.not_closed()?;
        if state.phase == Phase::Stopped {
            return Err(BrokerError::Away("stopped".to_owned()));
        }
        Ok(state)
    }

    fn not_closed(&self) -> Result<MutexGuard<'_, State>, BrokerError> {
        let state = self.state();
        if state.phase == Phase::Closed {
            return Err(BrokerError::Closed);
        }
        Ok(state)
    }

    /// A panic under the lock could only come from an allocation that failed; a lost message is
    /// swept up, so a poisoned state is as good as any.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn publish(&mut self, message: Message) -> Result<(), PublishError> {
        if self.phase != Phase::Running {
            return Err(PublishError::Away);
        }
        let partition = partition_of(&message.routing_key).ok_or(PublishError::Unroutable)?;
        self.queue(Queued::Issue(partition)).map_err(|_| PublishError::Unroutable)?.push(message)
    }

    fn queue(&mut self, queued: Queued) -> Result<&mut Queue, BrokerError> {
        let Queued::Issue(partition) = queued else { return Ok(&mut self.dead) };
        self.queues.get_mut(usize::from(partition)).ok_or(BrokerError::NoQueue(partition))
    }
}

/// Reads the partition from a routing key's last word, written as a broker's binding would have it:
/// digits only, no leading zero.
fn partition_of(routing_key: &str) -> Option<u16> {
    let (_, word) = routing_key.rsplit_once('.')?;
    let canonical = word.bytes().all(|byte| byte.is_ascii_digit()) && (word == "0" || !word.starts_with('0'));
    canonical.then(|| word.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::partition_of;

    #[test]
    fn partition_is_the_last_word_in_canonical_digits() {
        assert_eq!(partition_of("order.paid.0"), Some(0));
        assert_eq!(partition_of("stock.added.65535"), Some(65_535));
        for strange in
            ["", "0", "order.paid", "order.paid.", "order.paid.00", "order.paid.+1", "order.paid.65536"]
        {
            assert_eq!(partition_of(strange), None, "{strange}");
        }
    }
}
