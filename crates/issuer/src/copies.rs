//! Which copy of the data an issuer works with.
//!
//! A restored backup, or a standby that was promoted without the last commits, has forgotten codes that buyers have seen.
//! Each issuer notes outside the database what it has seen of it: the pair of generation and count of issuing sets, and how
//! far each batch was given out. A store of another generation, with a lower count or with a batch that is given out less far,
//! is an older copy or another server. The first issuer that sees this suspends the store for all, until `tessera recover` has
//! burned what may have been seen and renewed the generation; it writes the old one down, so that issuers which knew that one
//! go on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tessera_model::ids::BatchId;
use tessera_store::generations::Server;
use tessera_store::{Result, Store, StoreMeta, Tx, run_alone};

mod seen;

pub use seen::{Committed, Copy, MARKS_MAX, Seen};

/// What is said of a store that an issuer must not go on with.
pub const OLDER: &str = "it is an older copy of the data, or another one: codes that it has forgotten may have been seen. \
    Nothing is issued until `tessera recover` was run";

/// What an issuer knows of its store's pair; the step and the loop around it share it.
#[derive(Clone, Default)]
pub(crate) struct Known(Arc<Mutex<Option<Copy>>>);

impl Known {
    pub(crate) fn set(&self, copy: Copy) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(copy);
    }

    /// Whether a set that raised the count to this goes on from what is known.
    pub(crate) fn precedes(&self, meta: StoreMeta) -> bool {
        let known = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.is_none_or(|known| meta.generation == known.generation && meta.sets > known.sets)
    }
}

/// What an issuer that has seen all this sees in the store now; nothing when it must not go on with it.
///
/// # Errors
/// The store's.
pub async fn same_copy(store: &Arc<dyn Store>, seen: Vec<Seen>) -> Result<Option<Seen>> {
    let store = Arc::clone(store);
    run_alone(async move {
        let server = store.server().await?;
        let mut tx = store.snapshot().await?;
        let meta = tx.meta().await?;
        if meta.suspended {
            return Ok(None);
        }
        let last = tx.server_seen().await?;
        let now = compare(&mut *tx, meta, &seen, (last, server)).await?;
        drop(tx);
        if let Some(server) = server.filter(|server| now.is_some() && last != Some(*server)) {
            let mut tx = store.begin().await?;
            tx.server_put(server).await?;
            tx.commit().await?;
        }
        Ok(now)
    })
    .await
}

/// What is seen in the store, whether or not it is suspended.
async fn compare(
    tx: &mut dyn Tx,
    meta: StoreMeta,
    seen: &[Seen],
    (last, server): (Option<Server>, Option<Server>),
) -> Result<Option<Seen>> {
    if !same_server(last, server) {
        return Ok(None);
    }
    let batches: Vec<_> = seen.iter().flat_map(Seen::batches).collect();
    let limit = i64::try_from(MARKS_MAX).unwrap_or(i64::MAX);
    let issued: HashMap<_, _> = tx.batches_issued(&batches, limit).await?.into_iter().collect();
    for one in seen {
        if is_ahead(tx, meta, one, &issued).await? {
            return Ok(None);
        }
    }
    Ok(Some(Seen::went_on(meta.into(), &issued, seen)))
}

/// Whether an issuer has seen more than the store has now, of which these batches are given out so far: another generation
/// that this one was not recovered from, too.
pub(crate) async fn is_ahead(
    tx: &mut dyn Tx,
    meta: StoreMeta,
    seen: &Seen,
    issued: &HashMap<BatchId, i64>,
) -> Result<bool> {
    let recovered = seen.copy.generation != meta.generation;
    if recovered && !tx.generations_had(seen.copy.generation).await? {
        return Ok(true);
    }
    Ok(seen.is_ahead_of(meta.sets, issued, recovered))
}

/// A higher timeline is a promoted standby: whether it has everything, counts and batches tell.
fn same_server(seen: Option<Server>, now: Option<Server>) -> bool {
    match (seen, now) {
        (Some(seen), Some(now)) => seen.system_id == now.system_id && now.timeline >= seen.timeline,
        (None, _) | (_, None) => true,
    }
}

/// Suspends issuing by everybody, unless another look finds that it may go on: it was recovered meanwhile, or the first look
/// saw one server and then another. `seen` was read anew. Whether it is suspended.
///
/// # Errors
/// The store's.
pub(crate) async fn suspend(store: &Arc<dyn Store>, seen: Vec<Seen>) -> Result<bool> {
    let store = Arc::clone(store);
    run_alone(async move {
        let server = store.server().await?;
        let mut tx = store.begin().await?;
        // Its row is locked from here on, so that no recovery comes between the look and the end.
        if !tx.generations_suspend().await? {
            return Ok(true);
        }
        let (meta, last) = (tx.meta().await?, tx.server_seen().await?);
        let is_older = compare(&mut *tx, meta, &seen, (last, server)).await?.is_none();
        if is_older {
            tx.commit().await?;
        }
        Ok(is_older)
    })
    .await
}
