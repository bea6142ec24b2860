//! The issuer's notes, kept in memory and by the test, so that they outlive an issuer.

use std::sync::Arc;
use std::time::Duration;

use tessera_issuer::{Seen, SetNote};
use tessera_model::ids::OrderId;
use tokio::sync::watch;

/// How long a test waits for something to be noted.
const PATIENCE: Duration = Duration::from_secs(30);

/// A note that every clone shares.
#[derive(Clone, Default)]
pub struct MemoryNote(Arc<watch::Sender<(Vec<OrderId>, Option<Seen>)>>);

impl MemoryNote {
    /// The orders it names now.
    pub fn orders(&self) -> Vec<OrderId> {
        self.0.borrow().0.clone()
    }

    /// Waits until an issuer has seen this of its store.
    ///
    /// # Panics
    /// When it does not within half a minute.
    pub async fn until(&self, is: impl Fn(&Seen) -> bool) {
        let mut told = self.0.subscribe();
        let seen = told.wait_for(|(_, seen)| seen.as_ref().is_some_and(&is));
        assert!(tokio::time::timeout(PATIENCE, seen).await.is_ok(), "it was not noted in time");
    }
}

impl SetNote for MemoryNote {
    fn write(&mut self, orders: &[OrderId]) {
        self.0.send_modify(|told| told.0 = orders.to_vec());
    }

    fn keep(&mut self, seen: &Seen) {
        self.0.send_modify(|told| told.1 = Some(seen.clone()));
    }

    fn kept(&mut self) -> Vec<Seen> {
        self.0.borrow().1.iter().cloned().collect()
    }

    fn read(&mut self) -> Vec<OrderId> {
        self.orders()
    }
}
