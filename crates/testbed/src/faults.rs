//! Faults on order: a store that fails, panics or stands still at chosen operations.
//!
//! A fault names an operation of a transaction (as the seam calls it, such as `orders_insert`) and a text
//! that the operation's arguments have to contain in their debug form, such as an order's id; the empty text
//! is in all. Two operations more are told apart: `commit`, before it is done, and `committed`, after; their
//! text is searched in everything the transaction has done, operations' names included.

use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tessera_store::generations::Server;
use tessera_store::{Result, SchemaState, Store, StoreError, Tx};
use tokio::sync::watch;

mod hang;
mod tx;

pub use hang::Hang;
use tx::FaultyTx;

/// What a fault does.
#[derive(Clone)]
pub enum How {
    /// The operation gives this error.
    Fail(StoreError),
    /// The operation panics.
    Panic,
    /// The operation stands still until the test says how it ends.
    Hang(Hang),
    /// Nothing goes wrong; it is counted.
    Count(watch::Sender<u64>),
}

struct Fault {
    operation: &'static str,
    text: String,
    how: How,
    /// How many pass untouched first.
    after: u32,
    /// How often it strikes yet; for ever if none.
    left: Option<u32>,
}

/// The name that stands for every operation, `commit` among them.
pub const ANY: &str = "";

struct State {
    faults: Vec<Fault>,
    away: bool,
}

/// The handle by which a test gives faults, and hears what the store does.
#[derive(Clone)]
pub struct Faults {
    state: Arc<Mutex<State>>,
    commits: watch::Sender<u64>,
    pings: watch::Sender<u64>,
}

impl Default for Faults {
    fn default() -> Self {
        let state = Arc::new(Mutex::new(State { faults: vec![], away: false }));
        Self { state, commits: watch::Sender::new(0), pings: watch::Sender::new(0) }
    }
}

impl Faults {
    /// Every `operation` whose arguments contain `text` goes wrong from now on.
    pub fn always(&self, operation: &'static str, text: &dyn Display, how: How) {
        let text = text.to_string();
        self.state().faults.push(Fault { operation, text, how, after: 0, left: None });
    }

    /// The next `count` of them go wrong.
    pub fn next(&self, count: u32, operation: &'static str, text: &dyn Display, how: How) {
        let text = text.to_string();
        self.state().faults.push(Fault { operation, text, how, after: 0, left: Some(count) });
    }

    /// The next of them stands still.
    pub fn hang(&self, operation: &'static str, text: &dyn Display) -> Hang {
        let hang = Hang::default();
        self.next(1, operation, text, How::Hang(hang.clone()));
        hang
    }

    /// Counts them from now on.
    pub fn count(&self, operation: &'static str) -> watch::Receiver<u64> {
        let (counted, count) = watch::channel(0);
        self.always(operation, &"", How::Count(counted));
        count
    }

    /// The `n`-th of them stands still, counted from 1.
    pub fn hang_at(&self, n: u32, operation: &'static str) -> Hang {
        let (hang, after) = (Hang::default(), n.saturating_sub(1));
        let how = How::Hang(hang.clone());
        self.state().faults.push(Fault { operation, text: String::new(), how, after, left: Some(1) });
        hang
    }

    /// Nothing goes wrong any more, and the store is back.
    pub fn clear(&self) {
        *self.state() = State { faults: vec![], away: false };
    }

    /// The store is away: no transaction begins, no ping is answered.
    pub fn away(&self) {
        self.state().away = true;
    }

    /// Counts commits that were done.
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    /// Counts pings, answered or not: a paused issuer pings.
    pub fn pings(&self) -> watch::Receiver<u64> {
        self.pings.subscribe()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn are_given(&self) -> bool {
        !self.state().faults.is_empty()
    }

    fn here(&self) -> Result<()> {
        match self.state().away {
            true => Err(StoreError::Unavailable("the test has taken it away".to_owned())),
            false => Ok(()),
        }
    }

    /// What is to happen at an operation.
    fn due(&self, operation: &str, text: &str) -> Option<How> {
        let mut state = self.state();
        let named = |f: &Fault| f.operation == operation || (f.operation == ANY && operation != "committed");
        let strikes = |f: &Fault| named(f) && f.left != Some(0) && text.contains(&f.text);
        let fault = state.faults.iter_mut().find(|fault| strikes(fault))?;
        if fault.after > 0 {
            fault.after -= 1;
            return None;
        }
        fault.left = fault.left.map(|left| left - 1);
        Some(fault.how.clone())
    }

    async fn strike(&self, operation: &str, text: &str) -> Result<()> {
        match self.due(operation, text) {
            None => Ok(()),
            Some(How::Fail(error)) => Err(error),
            Some(How::Panic) => panic!("a fault on order at {operation}"),
            Some(How::Hang(hang)) => hang.stand_still().await,
            Some(How::Count(counted)) => {
                counted.send_modify(|count| *count += 1);
                Ok(())
            }
        }
    }
}

/// A store that does what another does, except where [`Faults`] say otherwise.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    faults: Faults,
}

impl FaultyStore {
    /// Puts `faults` in front of a store.
    pub fn new(inner: Arc<dyn Store>, faults: Faults) -> Self {
        Self { inner, faults }
    }
}

#[async_trait]
impl Store for FaultyStore {
    async fn begin(&self) -> Result<Box<dyn Tx>> {
        self.faults.here()?;
        Ok(Box::new(FaultyTx::new(self.inner.begin().await?, self.faults.clone())))
    }

    async fn snapshot(&self) -> Result<Box<dyn Tx>> {
        self.faults.here()?;
        Ok(Box::new(FaultyTx::new(self.inner.snapshot().await?, self.faults.clone())))
    }

    async fn ping(&self) -> Result<()> {
        self.faults.pings.send_modify(|pings| *pings += 1);
        self.faults.here()?;
        self.inner.ping().await
    }

    async fn schema(&self) -> Result<SchemaState> {
        self.faults.here()?;
        self.inner.schema().await
    }

    async fn server(&self) -> Result<Option<Server>> {
        self.faults.here()?;
        self.inner.server().await
    }

    async fn migrate(&self) -> Result<()> {
        self.inner.migrate().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }

    fn has_one_writer(&self) -> bool {
        self.inner.has_one_writer()
    }

    fn engine(&self) -> String {
        self.inner.engine()
    }
}
