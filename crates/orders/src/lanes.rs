//! Lanes: a batcher a key, so that one hot or stuck product does not hold up the others.
//!
//! With one writer (SQLite) there is one lane for everything: larger sets, and nothing to wait for but the writer.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use crate::batcher::{Batcher, Busy};

/// How many lanes there may be before idle ones are given up; those at work are kept.
const LANES_MAX: usize = 1_024;

/// Batchers by key, made when a key is first seen.
pub(crate) struct Lanes<K, I, O> {
    make: Box<dyn Fn() -> Batcher<I, O> + Send + Sync>,
    lanes: Mutex<HashMap<K, Batcher<I, O>>>,
}

impl<K: Eq + Hash, I: Send + 'static, O: Send + 'static> Lanes<K, I, O> {
    /// No lane yet; `make` starts one.
    pub(crate) fn new(make: impl Fn() -> Batcher<I, O> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { make: Box::new(make), lanes: Mutex::default() })
    }

    /// Joins the next set of a lane; waits for a place in it. See [`Batcher::submit`].
    pub(crate) async fn submit(&self, lane: K, input: I) -> Result<O, Busy> {
        self.lane(lane).submit(input).await
    }

    /// Joins the next set of a lane, unless too many wait in it. See [`Batcher::try_submit`].
    pub(crate) async fn try_submit(&self, lane: K, input: I) -> Result<O, Busy> {
        self.lane(lane).try_submit(input).await
    }

    fn lane(&self, lane: K) -> Batcher<I, O> {
        // Nothing can panic while it is held but an allocation.
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if lanes.len() >= LANES_MAX && !lanes.contains_key(&lane) {
            lanes.retain(|_, batcher| !batcher.is_idle());
        }
        lanes.entry(lane).or_insert_with(&self.make).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn a_stuck_lane_does_not_hold_up_another() {
        let gate = Arc::new(Semaphore::new(0));
        let lanes = Lanes::new({
            let gate = Arc::clone(&gate);
            move || {
                let gate = Arc::clone(&gate);
                Batcher::spawn(move |set: Vec<&'static str>| {
                    let gate = Arc::clone(&gate);
                    async move {
                        if set.contains(&"stuck") {
                            let _open = gate.acquire().await;
                        }
                        set
                    }
                })
            }
        });
        let stuck = tokio::spawn({
            let lanes = Arc::clone(&lanes);
            async move { lanes.submit(1, "stuck").await }
        });
        assert_eq!(lanes.submit(2, "free").await, Ok("free"));
        assert!(!stuck.is_finished());
        gate.close();
        assert_eq!(stuck.await.unwrap(), Ok("stuck"));
    }

    #[tokio::test]
    async fn idle_lanes_are_given_up_and_made_again() {
        let made = Arc::new(AtomicUsize::new(0));
        let lanes = Lanes::new({
            let made = Arc::clone(&made);
            move || {
                made.fetch_add(1, Ordering::SeqCst);
                Batcher::spawn(async |set: Vec<usize>| set)
            }
        });
        for key in 0..=LANES_MAX {
            assert_eq!(lanes.submit(key, key).await, Ok(key));
        }
        assert!(lanes.lanes.lock().unwrap().len() < LANES_MAX);
        assert_eq!(lanes.submit(0, 7).await, Ok(7));
        assert_eq!(made.load(Ordering::SeqCst), LANES_MAX + 2);
    }
}
