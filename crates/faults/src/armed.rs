//! What the environment has armed, and doing it.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test tells a process of its own what to do, hears that it was done, and misspells nothing unnoticed"
)]

use std::env;
use std::process::{self, Command};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{At, BREAKS, Break, POINTS};

static FAULT: LazyLock<Option<Fault>> = LazyLock::new(|| {
    let text = env::var("TEST_FAULT").ok()?;
    Some(Fault::parse(&text).unwrap_or_else(|| panic!("TEST_FAULT is not WHO/AT=HOW[@N]: {text}")))
});

static BREAK: LazyLock<Option<Break>> = LazyLock::new(|| {
    let text = env::var("TEST_BREAK").ok()?;
    let known = BREAKS.iter().find(|way| format!("{way:?}") == text);
    Some(*known.unwrap_or_else(|| panic!("TEST_BREAK is no way to be wrong: {text}")))
});

static SWEEPER_RESTS: LazyLock<bool> =
    LazyLock::new(|| env::var("TEST_SWEEPER").is_ok_and(|text| text == "rests"));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Kill,
    Freeze,
    Fail,
}

#[derive(Debug)]
struct Fault {
    who: &'static str,
    at: At,
    how: How,
    /// How often the point has to be reached until it happens; at 0 it has happened.
    left: AtomicU32,
}

impl Fault {
    fn parse(text: &str) -> Option<Self> {
        let (point, how) = text.split_once('=')?;
        let (how, nth) = match how.split_once('@') {
            Some((how, nth)) => (how, nth.parse().ok().filter(|nth| *nth > 0)?),
            None => (how, 1),
        };
        let how = match how {
            "kill" => How::Kill,
            "freeze" => How::Freeze,
            "fail" => How::Fail,
            _ => return None,
        };
        let (who, at) = POINTS.iter().find(|(who, at)| format!("{who}/{at:?}") == point)?;
        Some(Self { who, at: *at, how, left: AtomicU32::new(nth) })
    }

    /// Whether this time is the one.
    fn is_now(&self) -> bool {
        let count = |left: u32| left.checked_sub(1);
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count) == Ok(1)
    }

    fn happen(&self) -> bool {
        eprintln!("fault point {}/{:?}: {}", self.who, self.at, format!("{:?}", self.how).to_lowercase());
        match self.how {
            How::Kill => signal("-KILL"),
            How::Freeze => signal("-STOP"),
            How::Fail => return true,
        }
        false
    }
}

/// Signals that no process can refuse, so it ends or stands still before this returns.
fn signal(name: &str) {
    let told = Command::new("kill").args([name, &process::id().to_string()]).status();
    assert!(told.is_ok_and(|told| told.success()), "the process cannot signal itself");
}

pub(crate) fn reached(who: &str, at: At) -> bool {
    assert!(POINTS.contains(&(who, at)), "{who}/{at:?} is missing in the list of fault points");
    match &*FAULT {
        Some(fault) if fault.who == who && fault.at == at && fault.is_now() => fault.happen(),
        _ => false,
    }
}

pub(crate) fn broken(way: Break) -> bool {
    *BREAK == Some(way)
}

pub(crate) fn sweeper_rests() -> bool {
    *SWEEPER_RESTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_happens_once_at_the_time_it_was_armed_for() {
        let fault = Fault::parse("place/AfterCommit=fail@3").unwrap();
        assert_eq!([(); 5].map(|()| fault.is_now()), [false, false, true, false, false]);
    }

    #[test]
    fn what_is_misspelled_is_no_fault() {
        for text in [
            "place",
            "place/AfterCommit",
            "nobody/AfterCommit=kill",
            "place/Never=kill",
            "pay/AfterCommit=hurt",
        ] {
            assert!(Fault::parse(text).is_none(), "{text}");
        }
        assert!(Fault::parse("pay/AfterCommit=kill@0").is_none());
    }
}
