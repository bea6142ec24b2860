//! Whether the clock can be trusted: holds expire by it, and a clock that is set forward by an hour would end them all.
//!
//! A process has two clocks: the one that tells the time, which somebody may set, and one that only counts on. While
//! they move together time is steady. When the first has moved more than [`JUMP`] further, or less, than the second, it
//! was set: what hangs on it waits until the new time has held for [`HELD_FOR`].

use std::time::Duration;

use crate::time::Timestamp;

/// How far the clock may be off at one look before it counts as set.
pub const JUMP: Duration = Duration::from_secs(30);

/// How long a time that was set has to hold before it is believed: as long as a hold is by default, so that buyers whose
/// order was open when the clock was set forward still have the time they were promised.
pub const HELD_FOR: Duration = Duration::from_mins(15);

/// How much of the time that passed two good clocks may drift apart: a hundredth, which is far more than they do.
const DRIFT: u32 = 100;

/// What a look at both clocks says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// Time is steady.
    Steady,
    /// The clock was set since the last look, by so many microseconds.
    Jumped(i64),
    /// It was set before, and the new time has not held for long enough.
    Held,
    /// It has held: the time is believed again from this look on.
    Believed,
}

impl Steadiness {
    /// Whether the time is believed.
    pub const fn is_steady(self) -> bool {
        matches!(self, Self::Steady | Self::Believed)
    }
}

/// Compares the clock with what the other one counted. The first look is believed: there is nothing to compare it with.
#[derive(Clone, Debug, Default)]
pub struct Steady {
    last: Option<Look>,
    /// What was counted when the clock was last found to be set.
    jumped_at: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Look {
    time: Timestamp,
    counted: Duration,
    /// How far the clock is ahead of the count, in microseconds.
    ahead: i64,
}

impl Steady {
    /// Looks at the time, `counted` after some instant that stays the same.
    pub fn look(&mut self, time: Timestamp, counted: Duration) -> Steadiness {
        let Some(last) = self.last else {
            self.last = Some(Look { time, counted, ahead: 0 });
            return Steadiness::Steady;
        };
        let passed = counted.saturating_sub(last.counted);
        let moved = time.micros().saturating_sub(last.time.micros());
        let off = last.ahead.saturating_add(moved).saturating_sub(micros(passed));
        // Slow drift is forgotten, so that it does not add up to a jump over the weeks.
        let forgotten = micros(passed / DRIFT);
        let ahead = off.saturating_sub(off.clamp(-forgotten, forgotten));
        if off.saturating_abs() > micros(JUMP) {
            self.last = Some(Look { time, counted, ahead: 0 });
            self.jumped_at = Some(counted);
            return Steadiness::Jumped(off);
        }
        self.last = Some(Look { time, counted, ahead });
        match self.jumped_at {
            None => Steadiness::Steady,
            Some(at) if counted.saturating_sub(at) < HELD_FOR => Steadiness::Held,
            Some(_) => {
                self.jumped_at = None;
                Steadiness::Believed
            }
        }
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
    const HOUR: Duration = Duration::from_hours(1);

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_clock_that_is_set_is_believed_once_it_has_held() {
        for (time, off) in [(NOON.plus(HOUR), 3_600_000_000), (NOON.minus(HOUR), -3_600_000_000)] {
            let mut steady = Steady::default();
            assert_eq!(steady.look(NOON, s(0)), Steadiness::Steady);
            assert_eq!(steady.look(NOON.plus(s(1)), s(1)), Steadiness::Steady);
            assert_eq!(steady.look(time.plus(s(2)), s(2)), Steadiness::Jumped(off));
            assert_eq!(steady.look(time.plus(s(3)), s(3)), Steadiness::Held);
            let almost = HELD_FOR + s(1);
            assert_eq!(steady.look(time.plus(almost), almost), Steadiness::Held);
            let held = HELD_FOR + s(2);
            assert_eq!(steady.look(time.plus(held), held), Steadiness::Believed);
            assert_eq!(steady.look(time.plus(held), held), Steadiness::Steady);
        }
    }

    #[test]
    fn a_clock_that_is_set_back_again_has_to_hold_anew() {
        let mut steady = Steady::default();
        steady.look(NOON, s(0));
        assert!(matches!(steady.look(NOON.plus(HOUR), s(1)), Steadiness::Jumped(_)));
        assert!(matches!(steady.look(NOON.plus(s(600)), s(600)), Steadiness::Jumped(_)));
        assert_eq!(steady.look(NOON.plus(HELD_FOR), HELD_FOR), Steadiness::Held);
        let held = HELD_FOR + s(600);
        assert_eq!(steady.look(NOON.plus(held), held), Steadiness::Believed);
    }

    #[test]
    fn small_steps_and_drift_are_no_jumps() {
        let mut steady = Steady::default();
        steady.look(NOON, s(0));
        assert_eq!(steady.look(NOON.plus(s(29)), s(0)), Steadiness::Steady, "a small step");
        for minute in 1..=10_000_u64 {
            // Half a second a minute: 83 minutes in a week.
            let time = NOON.plus(s(29 + minute * 60)).plus(Duration::from_millis(minute * 500));
            assert_eq!(steady.look(time, s(minute * 60)), Steadiness::Steady, "minute {minute}");
        }
    }

    #[test]
    fn small_steps_that_add_up_are_a_jump() {
        let mut steady = Steady::default();
        steady.look(NOON, s(0));
        let looks = (1..=10).map(|n| steady.look(NOON.plus(s(n * 11)), s(n)));
        assert!(looks.into_iter().any(|look| matches!(look, Steadiness::Jumped(_))));
    }

    #[test]
    fn a_process_that_stood_still_finds_no_jump() {
        let mut steady = Steady::default();
        steady.look(NOON, s(0));
        assert_eq!(steady.look(NOON.plus(HOUR), HOUR), Steadiness::Steady);
    }
}
