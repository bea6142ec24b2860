//! One partition's queue: what is ready, who is registered, what each has not acknowledged.
//!
//! Synchronous; `shared` calls it under its lock. The order of all it holds is always: the active
//! session's unacknowledged deliveries, then what is ready, both in order of publication.

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::Notify;

use crate::{BrokerError, Delivery, Message, PublishError};

/// A message in the queue.
struct Held {
    message_id: String,
    kind: String,
    body: Vec<u8>,
    redelivered: bool,
}

/// A registered consumer.
struct Session {
    id: u64,
    prefetch: usize,
    last_tag: u64,
    /// By tag, ascending; empty unless the session is the active one.
    unacknowledged: VecDeque<(u64, Held)>,
}

/// One partition's queue.
pub(super) struct Queue {
    capacity: usize,
    ready: VecDeque<Held>,
    /// In order of registration; the first is active.
    sessions: VecDeque<Session>,
    last_session: u64,
    changed: Arc<Notify>,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            ready: VecDeque::new(),
            sessions: VecDeque::new(),
            last_session: 0,
            changed: Arc::new(Notify::new()),
        }
    }

    /// Is notified whenever a waiting consumer may find something else than before.
    pub(super) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    pub(super) fn depth(&self) -> u64 {
        count(self.ready.len())
    }

    pub(super) fn push(&mut self, message: Message) -> Result<(), PublishError> {
        // Unacknowledged deliveries keep their room, so that they can always come back.
        let taken: usize = self.sessions.iter().map(|session| session.unacknowledged.len()).sum();
        if self.ready.len() + taken >= self.capacity {
            return Err(PublishError::Full);
        }
        let Message { message_id, kind, body, .. } = message;
        self.ready.push_back(Held { message_id, kind, body, redelivered: false });
        self.changed.notify_waiters();
        Ok(())
    }

    /// Registers a consumer and gives its session's id, never used before.
    pub(super) fn register(&mut self, prefetch: u16) -> u64 {
        self.last_session += 1;
        self.sessions.push_back(Session {
            id: self.last_session,
            prefetch: usize::from(prefetch.max(1)),
            last_tag: 0,
            unacknowledged: VecDeque::new(),
        });
        self.last_session
    }

    /// Takes what a session may have now; nothing if it stands by or has used up its prefetch.
    pub(super) fn take(&mut self, id: u64, max: usize) -> Result<Vec<Delivery>, BrokerError> {
        let at = self.position(id)?;
        let Some(active) = self.sessions.front_mut().filter(|_| at == 0) else { return Ok(Vec::new()) };
        let room = active.prefetch.saturating_sub(active.unacknowledged.len());
        let upto = max.max(1).min(room).min(self.ready.len());
        Ok(self.ready.drain(..upto).map(|held| active.deliver(held)).collect())
    }

    /// Forgets a session's deliveries up to `tag`; a tag it does not hold ends the session.
    pub(super) fn acknowledge(&mut self, id: u64, tag: u64) -> Result<(), BrokerError> {
        let at = self.position(id)?;
        let unacknowledged = &mut self.sessions[at].unacknowledged;
        if let Ok(last) = unacknowledged.binary_search_by_key(&tag, |(tag, _)| *tag) {
            unacknowledged.drain(..=last);
            return Ok(());
        }
        self.end(id);
        Err(BrokerError::SessionLost)
    }

    /// Ends a session, if it is not over: its deliveries go back to the front, the next takes over.
    pub(super) fn end(&mut self, id: u64) {
        let Ok(at) = self.position(id) else { return };
        for (_, held) in self.sessions.remove(at).into_iter().flat_map(|s| s.unacknowledged).rev() {
            self.ready.push_front(Held { redelivered: true, ..held });
        }
        self.changed.notify_waiters();
    }

    /// Ends every session.
    pub(super) fn end_all(&mut self) {
        while let Some(session) = self.sessions.back() {
            self.end(session.id);
        }
    }

    /// Throws away what is ready, and says how much it was.
    pub(super) fn purge(&mut self) -> u64 {
        let purged = self.depth();
        self.ready.clear();
        purged
    }

    fn position(&self, id: u64) -> Result<usize, BrokerError> {
        self.sessions.iter().position(|session| session.id == id).ok_or(BrokerError::SessionLost)
    }
}

impl Session {
    fn deliver(&mut self, held: Held) -> Delivery {
        self.last_tag += 1;
        let delivery = Delivery {
            tag: self.last_tag,
            redelivered: held.redelivered,
            message_id: Some(held.message_id.clone()),
            kind: Some(held.kind.clone()),
            body: held.body.clone(),
        };
        self.unacknowledged.push_back((self.last_tag, held));
        delivery
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
