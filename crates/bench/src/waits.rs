//! How long buyers waited, and how many there were in a second.

use std::time::Duration;

/// Waits, shortest first; not empty.
pub(crate) struct Waits(Vec<Duration>);

impl Waits {
    /// None if nobody waited.
    pub(crate) fn new(mut waits: Vec<Duration>) -> Option<Self> {
        waits.sort_unstable();
        (!waits.is_empty()).then_some(Self(waits))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The wait in milliseconds that `percent` of them did not exceed.
    pub(crate) fn millis(&self, percent: usize) -> f64 {
        let at = (self.0.len() * percent / 100).min(self.0.len() - 1);
        self.0[at].as_secs_f64() * 1e3
    }

    /// How many there were a second, in so much time.
    pub(crate) fn rate(&self, took: Duration) -> f64 {
        rate(self.0.len(), took)
    }
}

/// How many a second.
pub(crate) fn rate(count: usize, took: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / took.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_nine_of_a_hundred_did_not_wait_longer_than_the_p99() {
        let waits = Waits::new((1..=100).rev().map(Duration::from_millis).collect()).unwrap();
        assert!((waits.millis(99) - 100.0).abs() < 0.001 && (waits.millis(50) - 51.0).abs() < 0.001);
        assert!((waits.millis(100) - 100.0).abs() < 0.001);
        assert!(Waits::new(vec![]).is_none());
    }
}
