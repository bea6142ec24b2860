//! Lanes: several batchers side by side, so that one hot or stuck product does not hold up the others.
//!
//! With one writer (SQLite) there is one lane for everything: larger sets, and nothing to wait for but the writer.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use crate::batcher::{Batcher, Busy};

/// A fixed number of batchers; what has one key is always in one lane.
///
/// A number of its own for every key would let a crowd that makes keys up have a transaction an input, and take every
/// connection from payments and the issuer.
pub(crate) struct Lanes<I, O>(Vec<Batcher<I, O>>);

impl<I, O> Clone for Lanes<I, O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<I: Send + 'static, O: Send + 'static> Lanes<I, O> {
    /// Starts `count` of them, at least one.
    pub(crate) fn start(count: usize, start: impl Fn() -> Batcher<I, O>) -> Self {
        Self((0..count.max(1)).map(|_| start()).collect())
    }

    /// Joins the next set of the key's lane; waits for a place in it. See [`Batcher::submit`].
    pub(crate) async fn submit(&self, key: impl Hash, input: I) -> Result<O, Busy> {
        self.lane(key)?.submit(input).await
    }

    /// Joins the next set of the key's lane, unless too many wait in it. See [`Batcher::try_submit`].
    pub(crate) async fn try_submit(&self, key: impl Hash, input: I) -> Result<O, Busy> {
        self.lane(key)?.try_submit(input).await
    }

    fn lane(&self, key: impl Hash) -> Result<&Batcher<I, O>, Busy> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
        let count = u64::try_from(self.0.len()).unwrap_or(u64::MAX);
        usize::try_from(hash % count).ok().and_then(|at| self.0.get(at)).ok_or(Busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn a_stuck_lane_does_not_hold_up_another() {
        let gate = Arc::new(Semaphore::new(0));
        let lanes = Lanes::start(16, || {
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
        });
        let stuck = tokio::spawn({
            let lanes = lanes.clone();
            async move { lanes.submit("hot", "stuck").await }
        });
        // Of this many keys some have a lane of their own.
        let mut free = 0;
        for key in 0..32 {
            let answer = lanes.submit(key, "free");
            free +=
                i32::from(tokio::time::timeout(std::time::Duration::from_millis(20), answer).await.is_ok());
        }
        assert!(free > 16, "{free} keys of 32 went on");
        assert!(!stuck.is_finished());
        gate.close();
        assert_eq!(stuck.await.unwrap(), Ok("stuck"));
    }

    #[tokio::test]
    async fn one_lane_is_for_every_key() {
        let lanes = Lanes::start(0, || Batcher::spawn(async |set: Vec<u8>| set));
        for key in ["a", "b"] {
            assert_eq!(lanes.try_submit(key, 7).await, Ok(7));
        }
    }
}
