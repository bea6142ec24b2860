//! Time and randomness, handed in by the binary or a test.

use std::sync::{Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tessera_model::time::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// A seeded generator of unguessable bytes (ChaCha), shared by a process.
pub struct Entropy(Mutex<StdRng>);

impl Entropy {
    /// A generator that continues from `seed`.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(Mutex::new(StdRng::from_seed(seed)))
    }

    /// The next `N` bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        // A panic elsewhere cannot leave the generator half-changed, so a poisoned lock is as good as any.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut bytes);
        bytes
    }
}
