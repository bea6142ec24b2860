//! What a case stands on: a store of its own, a clock that it moves, and ids that rise.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tessera_model::time::Timestamp;

use super::{Harness, MockClock};
use crate::{Clock, Result, Store, StoreError, Tx};

/// One store for one case.
pub struct Fixture {
    harness: Box<dyn Harness>,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<MockClock>,
    made: AtomicU64,
}

impl Fixture {
    /// Opens the harness's store and migrates it.
    pub async fn open(harness: impl Harness + 'static) -> Self {
        let fixture = Self::open_empty(harness).await;
        fixture.store.migrate().await.expect("the schema is brought up to date");
        fixture
    }

    /// Opens the harness's store as it is.
    pub async fn open_empty(harness: impl Harness + 'static) -> Self {
        let clock = Arc::new(MockClock::default());
        let store = harness.open(Arc::<MockClock>::clone(&clock)).await;
        Self { harness: Box::new(harness), store, clock, made: AtomicU64::new(0) }
    }

    /// Opens the store once more, as another process would.
    pub(super) async fn open_again(&self) -> Arc<dyn Store> {
        self.harness.open(Arc::<MockClock>::clone(&self.clock)).await
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// So many seconds before now.
    pub(super) fn ago(&self, seconds: u64) -> Timestamp {
        self.now().minus(Duration::from_secs(seconds))
    }

    /// So many seconds after now.
    pub(super) fn later(&self, seconds: u64) -> Timestamp {
        self.now().plus(Duration::from_secs(seconds))
    }

    /// An id higher than those made before, as long as the clock does not go back.
    pub(super) fn id<T>(&self, new: fn(Timestamp, [u8; 10]) -> T) -> T {
        new(self.now(), self.bytes())
    }

    /// Bytes that nobody was given before; at least 8 of them.
    pub(super) fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        let count = self.made.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        bytes[N - count.len()..].copy_from_slice(&count);
        bytes
    }

    pub(super) async fn begin(&self) -> Box<dyn Tx> {
        self.store.begin().await.expect("a transaction begins")
    }

    pub(super) async fn snapshot(&self) -> Box<dyn Tx> {
        self.store.snapshot().await.expect("a snapshot begins")
    }

    /// Runs one transaction to its commit, or to its first failure.
    pub(super) async fn attempt<T>(&self, step: impl AsyncFnOnce(&mut dyn Tx) -> Result<T>) -> Result<T> {
        let mut tx = self.begin().await;
        let outcome = step(&mut *tx).await?;
        tx.commit().await?;
        Ok(outcome)
    }

    /// A transaction that must succeed.
    pub(super) async fn write<T>(&self, step: impl AsyncFnOnce(&mut dyn Tx) -> Result<T>) -> T {
        self.attempt(step).await.expect("the transaction commits")
    }

    /// What a snapshot tells.
    pub(super) async fn read<T>(&self, look: impl AsyncFnOnce(&mut dyn Tx) -> Result<T>) -> T {
        let mut tx = self.snapshot().await;
        look(&mut *tx).await.expect("the snapshot answers")
    }

    /// A transaction that must fail, at a statement or at its commit, by a fault of its input.
    pub(super) async fn assert_refused<T>(&self, step: impl AsyncFnOnce(&mut dyn Tx) -> Result<T>) {
        match self.attempt(step).await {
            Err(StoreError::Data(_)) => {}
            Err(other) => panic!("a fault of the input, but it was laid elsewhere: {other}"),
            Ok(_) => panic!("it must be refused, but was committed"),
        }
    }
}
