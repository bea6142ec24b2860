//! One set of deliveries, from bytes to done.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tessera_broker::{Broker, Delivery};
use tessera_model::ids::{OrderId, ProductId};
use tessera_store::{Entropy, Result, SetFault, Store, StoreError, run_set};

use super::SetNote;
use super::alike::Alike;
use crate::alone;
use crate::copies::{Known, Seen, same_copy, suspend};
use crate::issue::{Effects, Issue, IssueOutcome, IssueResult, Work};
use crate::letters::{self, Failed};
use crate::message::{Undecodable, decode};

/// How often a set's waitlists are looked at again before the next set gets its turn.
const LOOKS_MAX: usize = 16;

/// What the issuer holds between sets.
pub(super) struct Hand {
    store: Arc<dyn Store>,
    broker: Arc<dyn Broker>,
    entropy: Arc<Entropy>,
    step: Arc<Issue>,
    note: Box<dyn SetNote>,
    known: Known,
    /// What it has seen of the store; nothing before the first look of an issuer with an empty folder.
    seen: Option<Seen>,
    /// Orders a predecessor had in hand when it ended.
    suspects: HashSet<OrderId>,
    /// Lone tries that the store failed and this process survived: the next one of the order is not another.
    survived: HashMap<OrderId, i64>,
    alike: Alike,
}

/// A piece of work with its delivery.
type Item<'d> = (&'d Delivery, Work);

impl Hand {
    pub(super) fn new(
        store: Arc<dyn Store>,
        broker: Arc<dyn Broker>,
        entropy: Arc<Entropy>,
        step: Issue,
        mut note: Box<dyn SetNote>,
    ) -> Self {
        let known = step.known.clone();
        let step = Arc::new(step);
        let suspects = note.read().into_iter().collect();
        let (survived, alike) = (HashMap::new(), Alike::default());
        Self { store, broker, entropy, step, note, known, seen: None, suspects, survived, alike }
    }

    /// Whether the store is the copy that the issuers of this folder worked with last; if not, it is suspended for all.
    pub(super) async fn look(&mut self) -> Result<bool> {
        let seen = self.known_here();
        match same_copy(&self.store, seen).await? {
            Some(seen) => {
                self.keep(seen);
                Ok(true)
            }
            None => {
                let seen = self.known_here();
                suspend(&self.store, seen).await.map(|is_suspended| !is_suspended)
            }
        }
    }

    /// What the issuers of this folder have seen, and this one, though its note cannot be read.
    fn known_here(&mut self) -> Vec<Seen> {
        let mut seen = self.note.kept();
        seen.extend(self.seen.clone());
        seen
    }

    /// Whether it has ever seen its store.
    pub(super) const fn has_looked(&self) -> bool {
        self.seen.is_some()
    }

    fn keep(&mut self, seen: Seen) {
        self.known.set(seen.copy);
        if self.seen.as_ref() != Some(&seen) {
            self.note.keep(&seen);
            self.seen = Some(seen);
        }
    }

    /// Runs the step over a set, and keeps what was committed of it, whatever became of the rest.
    async fn run(&mut self, works: Vec<Work>) -> Vec<std::result::Result<IssueResult, SetFault>> {
        let results = run_set(Arc::clone(&self.store), Arc::clone(&self.step), works).await;
        let done = results.iter().flatten().filter_map(|result| result.effects.committed.as_ref());
        if let Some(seen) = Seen::after(self.seen.as_ref(), done) {
            self.keep(seen);
        }
        results
    }

    /// Nothing is in hand.
    pub(super) fn done(&mut self) {
        self.note.write(&[]);
    }

    /// Does a set: everything in it is issued, found done, or written down. True when orders in a row failed
    /// alike and a pause is due. An error is the reason of a pause; nothing may be acknowledged then.
    pub(super) async fn take(&mut self, set: &[Delivery]) -> std::result::Result<bool, String> {
        let (mut items, mut undecodable) = (Vec::with_capacity(set.len()), vec![]);
        for delivery in set {
            match decode(delivery) {
                Ok(work) => items.push((delivery, work)),
                Err(newer @ Undecodable::Newer(_)) => return Err(newer.to_string()),
                Err(malformed) => undecodable.push(failed(delivery, None, malformed.to_string(), 0)),
            }
        }
        let (together, suspicious) = self.part(items).await.map_err(|e| e.to_string())?;

        let mut effects = Effects::default();
        self.together(&together, &mut effects).await?;
        for item in suspicious {
            self.alone(item, &mut effects).await?;
        }
        self.look_again(&mut effects).await?;
        self.wake(effects.changed).await;
        // Last, so that a set that is tried again writes them once.
        self.write(&undecodable).await?;
        Ok(self.alike.is_due())
    }

    /// Work that may have killed a process apart from the rest, unless its order is done anyway.
    async fn part<'d>(&mut self, items: Vec<Item<'d>>) -> Result<(Vec<Item<'d>>, Vec<Item<'d>>)> {
        let suspect = |(delivery, work): &Item<'_>| match work {
            Work::Order(id) => delivery.redelivered || self.suspects.contains(id),
            Work::Stock(_) => false,
        };
        let (suspicious, mut together): (Vec<_>, Vec<_>) = items.into_iter().partition(suspect);
        if suspicious.is_empty() {
            return Ok((together, vec![]));
        }
        let ids: HashSet<OrderId> = suspicious.iter().filter_map(|(_, work)| order_of(*work)).collect();
        let pending = match alone::pending(&self.store, ids.iter().copied().collect()).await {
            // One of them cannot be read: tried alone, it fails by name.
            Err(StoreError::Data(_)) => ids,
            pending => pending?,
        };
        let (suspicious, done): (Vec<_>, Vec<_>) = suspicious
            .into_iter()
            .partition(|(_, work)| order_of(*work).is_some_and(|id| pending.contains(&id)));
        together.extend(done);
        Ok((together, suspicious))
    }

    async fn together(
        &mut self,
        items: &[Item<'_>],
        effects: &mut Effects,
    ) -> std::result::Result<(), String> {
        let ids: Vec<OrderId> = items.iter().filter_map(|(_, work)| order_of(*work)).collect();
        self.note.write(&ids);
        let works = items.iter().map(|(_, work)| *work).collect();
        let results = self.run(works).await;
        let mut letters = vec![];
        for ((delivery, work), result) in items.iter().zip(results) {
            letters.extend(self.settle(delivery, *work, result, 1, effects)?);
        }
        self.write(&letters).await
    }

    async fn alone(
        &mut self,
        (delivery, work): Item<'_>,
        effects: &mut Effects,
    ) -> std::result::Result<(), String> {
        let Work::Order(id) = work else { return Ok(()) };
        let attempt = match self.survived.get(&id) {
            Some(attempt) => *attempt,
            None => alone::begin(&self.store, id).await.map_err(|e| e.to_string())?,
        };
        if attempt > alone::ATTEMPTS_MAX {
            let why = "tried alone three times without an outcome: it may have killed the issuer".to_owned();
            return self.write(&[failed(delivery, Some(id), why, alone::ATTEMPTS_MAX)]).await;
        }
        self.note.write(&[id]);
        let results = self.run(vec![work]).await;
        self.suspects.remove(&id);
        self.survived.insert(id, attempt);
        let mut letters = vec![];
        for result in results {
            letters.extend(self.settle(delivery, work, result, attempt, effects)?);
        }
        self.write(&letters).await?;
        self.survived.remove(&id);
        Ok(())
    }

    /// One outcome: nothing to write, a letter, or the reason of a pause.
    fn settle<'d>(
        &mut self,
        delivery: &'d Delivery,
        work: Work,
        result: std::result::Result<IssueResult, SetFault>,
        attempts: i64,
        effects: &mut Effects,
    ) -> std::result::Result<Option<Failed<'d>>, String> {
        match result {
            Ok(result) => {
                effects.add(result.effects);
                if result.outcome == IssueOutcome::Over {
                    tracing::warn!(order.id = ?order_of(work), "a paid order found its raffle over: its money goes back");
                }
                if result.outcome == IssueOutcome::Unknown {
                    let why = "there is no such order".to_owned();
                    return Ok(Some(failed(delivery, order_of(work), why, attempts)));
                }
                self.alike.end();
                Ok(None)
            }
            // The order at the head of the waitlist is at fault: the sweeper finds it, and it fails by name.
            Err(SetFault::Data(detail)) if order_of(work).is_none() => {
                tracing::warn!(detail, "a waitlist could not be filled");
                Ok(None)
            }
            Err(SetFault::Data(detail)) => {
                let failed = failed(delivery, order_of(work), detail, attempts);
                self.alike.count(&failed.fingerprint, failed.order);
                Ok(Some(failed))
            }
            Err(SetFault::Store(error)) => Err(error.to_string()),
        }
    }

    /// Orders that a set put off, and waitlists that it could not fill to their end. What is left after so many
    /// looks, the sweeper finds.
    async fn look_again(&mut self, effects: &mut Effects) -> std::result::Result<(), String> {
        for _ in 0..LOOKS_MAX {
            let again = std::mem::take(&mut effects.again);
            let more: Vec<ProductId> = std::mem::take(&mut effects.more);
            if more.is_empty() && again.is_empty() {
                break;
            }
            let works = again.into_iter().map(Work::Order).chain(more.into_iter().map(Work::Stock)).collect();
            for result in self.run(works).await {
                match result {
                    Ok(result) => effects.add(result.effects),
                    Err(SetFault::Data(detail)) => tracing::warn!(detail, "a waitlist could not be filled"),
                    Err(SetFault::Store(error)) => return Err(error.to_string()),
                }
            }
        }
        Ok(())
    }

    async fn write(&self, failed: &[Failed<'_>]) -> std::result::Result<(), String> {
        letters::write(&self.store, &self.entropy, failed).await.map_err(|e| e.to_string())
    }

    /// One message for the set. Losing it costs the waiters one re-check period.
    async fn wake(&self, changed: Vec<OrderId>) {
        for ids in changed.chunks(tessera_store::SET_MAX) {
            let ids: Vec<String> = ids.iter().map(OrderId::to_string).collect();
            let body = serde_json::json!({ "v": 1, "order_ids": ids }).to_string();
            if let Err(error) = self.broker.wake(body.into_bytes()).await {
                tracing::debug!(%error, "a wake-up was not sent");
            }
        }
    }
}

fn order_of(work: Work) -> Option<OrderId> {
    match work {
        Work::Order(id) => Some(id),
        Work::Stock(_) => None,
    }
}

fn failed(delivery: &Delivery, order: Option<OrderId>, why: String, attempts: i64) -> Failed<'_> {
    let fingerprint = StoreError::Data(why.clone()).fingerprint();
    Failed { delivery, order, reason: why, fingerprint, attempts }
}
