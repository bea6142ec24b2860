//! A clock that stands still until it is moved.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tessera_model::time::Timestamp;

use crate::Clock;

/// 2026-11-30T12:00:00Z, when every case and every test begins.
const BEGINNING_MICROS: i64 = 1_796_040_000_000_000;

/// The clock of a case, or of a test above this suite.
pub struct MockClock(AtomicI64);

impl Default for MockClock {
    fn default() -> Self {
        Self(AtomicI64::new(BEGINNING_MICROS))
    }
}

impl MockClock {
    /// Moves it on.
    pub fn advance(&self, by: Duration) {
        self.set(self.now().plus(by));
    }

    /// Sets it, also back.
    pub fn set(&self, to: Timestamp) {
        self.0.store(to.micros(), Ordering::SeqCst);
    }
}

impl Clock for MockClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
