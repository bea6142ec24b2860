//! Instants and spans of time, in microseconds, as PostgreSQL keeps them.

use std::time::Duration;

/// An instant: microseconds since 1970-01-01T00:00:00Z.
///
/// Writing it as RFC 3339 is the edge's business; here it is only compared and moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant `micros` microseconds after the Unix epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Milliseconds since the Unix epoch, 0 before it: what a `UUIDv7` carries.
    pub fn millis(self) -> u64 {
        u64::try_from(self.0.div_euclid(1000)).unwrap_or(0)
    }

    /// This instant moved on by `by`, held at the last one that can be told.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(micros_of(by)))
    }

    /// This instant moved back by `by`, held at the first one that can be told.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(micros_of(by)))
    }

    /// The time from `earlier` to here; zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn micros_of(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_moves_both_ways_and_stops_at_the_ends() {
        let t = Timestamp::from_micros(1_000);
        assert_eq!(t.plus(Duration::from_millis(1)).micros(), 2_000);
        assert_eq!(t.minus(Duration::from_millis(1)).micros(), 0);
        assert_eq!(Timestamp::from_micros(i64::MAX).plus(Duration::MAX).micros(), i64::MAX);
        assert_eq!(t.since(t.plus(Duration::from_secs(1))), Duration::ZERO);
    }
}
