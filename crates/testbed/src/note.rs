//! The issuer's notes, kept in memory and by the test, so that they outlive an issuer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tessera_issuer::{Copy, SetNote};
use tessera_model::ids::OrderId;

/// A note that every clone shares.
#[derive(Clone, Default)]
pub struct MemoryNote(Arc<Mutex<(Vec<OrderId>, Option<Copy>)>>);

impl MemoryNote {
    fn told(&self) -> MutexGuard<'_, (Vec<OrderId>, Option<Copy>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The orders it names now.
    pub fn orders(&self) -> Vec<OrderId> {
        self.told().0.clone()
    }

    /// Forgets which copy of the data it is about, as a new folder does.
    pub fn forget(&self) {
        self.told().1 = None;
    }
}

impl SetNote for MemoryNote {
    fn write(&mut self, orders: &[OrderId]) {
        self.told().0 = orders.to_vec();
    }

    fn keep(&mut self, copy: Copy) {
        self.told().1 = Some(copy);
    }

    fn kept(&mut self) -> Option<Copy> {
        self.told().1
    }

    fn read(&mut self) -> Vec<OrderId> {
        self.orders()
    }
}
