//! The issuer's note of the set in hand, kept in memory and by the test, so that it outlives an issuer.

use std::sync::{Arc, Mutex, PoisonError};

use tessera_issuer::SetNote;
use tessera_model::ids::OrderId;

/// A note that every clone shares.
#[derive(Clone, Default)]
pub struct MemoryNote(Arc<Mutex<Vec<OrderId>>>);

impl MemoryNote {
    /// What it says now.
    pub fn orders(&self) -> Vec<OrderId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl SetNote for MemoryNote {
    fn write(&mut self, orders: &[OrderId]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = orders.to_vec();
    }

    fn read(&mut self) -> Vec<OrderId> {
        self.orders()
    }
}
