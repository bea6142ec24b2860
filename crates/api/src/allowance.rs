//! An allowance: how many of something that strangers can cause are kept.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tessera_model::time::Timestamp;

/// So many at once, and one more each `every`.
#[derive(Debug)]
pub(crate) struct Allowance {
    most: u32,
    every: Duration,
    state: Mutex<(u32, Timestamp)>,
}

impl Allowance {
    /// A full allowance.
    pub(crate) const fn new(most: u32, every: Duration) -> Self {
        Self { most, every, state: Mutex::new((most, Timestamp::from_micros(0))) }
    }

    /// Takes one, if any is left at `now`.
    pub(crate) fn allow(&self, now: Timestamp) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, since) = *state;
        let grown = now.since(since).as_micros() / self.every.as_micros().max(1);
        let left = left.saturating_add(u32::try_from(grown).unwrap_or(u32::MAX)).min(self.most);
        let since = if grown > 0 { now } else { since };
        *state = (left.saturating_sub(1), since);
        left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowance_runs_out_and_grows_again() {
        let allowance = Allowance::new(2, Duration::from_secs(1));
        let at = |s: i64| Timestamp::from_micros(1_000_000_000 + s * 1_000_000);
        assert_eq!(
            [allowance.allow(at(0)), allowance.allow(at(0)), allowance.allow(at(0))],
            [true, true, false]
        );
        assert_eq!([allowance.allow(at(1)), allowance.allow(at(1))], [true, false]);
    }
}
