//! Requests with an Idempotency-Key: one order a key, however often and at once it is asked for.
//!
//! draft-ietf-httpapi-idempotency-key-header. A refused request leaves its key free.

use std::collections::{BTreeMap, HashMap};

use tessera_model::ids::OrderId;
use tessera_model::place::NewOrder;
use tessera_model::time::Timestamp;
use tessera_store::orders::KnownRequest;
use tessera_store::{Result, Tx};

use super::PlaceOutcome;

/// The keys of a set: claimed before every lock, settled once the set is decided.
pub(super) struct Requests {
    /// Keys that are ours to fill, with the first order of the set that asked under them.
    claimed: HashMap<[u8; 32], OrderId>,
    /// Keys and what they made, from the store or from earlier in the set.
    known: HashMap<[u8; 32], KnownRequest>,
    stale: Timestamp,
}

impl Requests {
    /// Claims the keys of a set; those that others hold are read.
    pub(super) async fn claim(tx: &mut dyn Tx, inputs: &[NewOrder], stale: Timestamp) -> Result<Self> {
        let mut wanted: BTreeMap<[u8; 32], KnownRequest> = BTreeMap::new();
        for new in inputs {
            if let Some(request) = new.request {
                wanted.entry(request.key).or_insert(KnownRequest { request, order: new.id });
            }
        }
        let mut requests = Self { claimed: HashMap::new(), known: HashMap::new(), stale };
        if wanted.is_empty() {
            return Ok(requests);
        }
        let rows: Vec<KnownRequest> = wanted.values().copied().collect();
        for key in tx.requests_claim(&rows, stale).await? {
            requests.claimed.extend(wanted.remove(&key).map(|w| (key, w.order)));
        }
        if !wanted.is_empty() {
            let others: Vec<[u8; 32]> = wanted.into_keys().collect();
            let known = tx.requests_read(&others).await?;
            requests.known = known.into_iter().map(|k| (k.request.key, k)).collect();
        }
        Ok(requests)
    }

    /// What the request's key has made already, if it has.
    pub(super) fn repeat_of(&self, new: &NewOrder) -> Option<PlaceOutcome> {
        let request = new.request?;
        let known = self.known.get(&request.key)?;
        Some(match known.request.body == request.body {
            true => PlaceOutcome::Repeated(known.order),
            false => PlaceOutcome::KeyReused,
        })
    }

    /// The order was accepted: its key is taken from here on.
    pub(super) fn accepted(&mut self, new: &NewOrder) {
        if let Some(request) = new.request {
            self.known.insert(request.key, KnownRequest { request, order: new.id });
        }
    }

    /// Leaves each claimed key with the order that was accepted under it, and frees the rest.
    ///
    /// The order that claimed a key may have been refused and a later one of the set accepted.
    pub(super) async fn settle(self, tx: &mut dyn Tx) -> Result<()> {
        let (mut free, mut moved) = (vec![], vec![]);
        for (key, claimant) in &self.claimed {
            let accepted = self.known.get(key);
            if accepted.is_none_or(|a| a.order != *claimant) {
                free.push(*key);
                moved.extend(accepted);
            }
        }
        if !free.is_empty() {
            tx.requests_release(&free).await?;
        }
        if !moved.is_empty() {
            tx.requests_claim(&moved, self.stale).await?;
        }
        Ok(())
    }
}
