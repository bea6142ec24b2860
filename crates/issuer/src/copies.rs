//! Which copy of the data an issuer works with.
//!
//! A restored backup, or a standby that was promoted without the last commits, has forgotten codes that buyers have seen.
//! Each issuer keeps the last pair of generation and count of issuing sets that it committed, outside the database. A store of
//! another generation, or with a lower count, is refused until `tessera recover` has burned what may have been seen: it renews
//! the generation and writes the old one down, so that an issuer which knew that one may go on.

use std::sync::{Arc, Mutex, PoisonError};

use tessera_store::{Result, Store, StoreMeta, Tx, run_alone};

/// What is said of a store that an issuer must not go on with.
pub const OLDER: &str = "it is an older copy of the data, or another one: codes that it has forgotten may have been seen. \
    Nothing is issued until `tessera recover` was run";

/// The last issuing set of an issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The generation.
    pub generation: [u8; 16],
    /// The count of issuing sets after it.
    pub sets: i64,
}

impl From<StoreMeta> for Copy {
    fn from(meta: StoreMeta) -> Self {
        Self { generation: meta.generation, sets: meta.sets }
    }
}

/// What an issuer knows of its store; the step and the loop around it share it.
#[derive(Clone, Default)]
pub(crate) struct Known(Arc<Mutex<Option<Copy>>>);

impl Known {
    pub(crate) fn get(&self) -> Option<Copy> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, copy: Option<Copy>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = copy;
    }

    /// Whether the store is no older copy, nor another one. `raised` says that the count is one more than was committed.
    pub(crate) async fn holds(&self, tx: &mut dyn Tx, meta: StoreMeta, raised: bool) -> Result<bool> {
        let Some(known) = self.get() else { return Ok(true) };
        let least = known.sets + i64::from(raised);
        let same = meta.generation == known.generation && meta.sets >= least;
        if same || meta.generation == known.generation {
            return Ok(same);
        }
        tx.generations_had(known.generation).await
    }
}

/// Whether an issuer that knew `copy` may go on with this store.
///
/// # Errors
/// The store's.
pub async fn same_copy(store: &Arc<dyn Store>, copy: Option<Copy>) -> Result<bool> {
    let (store, known) = (Arc::clone(store), Known::default());
    known.set(copy);
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        let meta = tx.meta().await?;
        known.holds(&mut *tx, meta, false).await
    })
    .await
}
