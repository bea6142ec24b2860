//! How long a shop needs to be right again after a fault: the bound that a test holds it to, and what it took.
//!
//! A scenario is a row of `docs/reliability.md`. `cargo xtask test` sets [`FOLDER`], and `cargo xtask reliability` writes the
//! page from what the tests left there.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use crate::Engine;

/// The variable with the folder where measured recoveries are kept; unset, they are only held to their bounds.
pub const FOLDER: &str = "RELIABILITY_FOLDER";

/// One fault and the time within which the shop has to be right again.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Its place in the table; rows are sorted by it.
    pub number: u16,
    /// What is done to the shop, in a few words.
    pub fault: &'static str,
    /// What has to be true again, in a few words: `all issued`, `orders are taken`.
    pub until: &'static str,
    /// How long that may take.
    pub bound: Duration,
}

impl Scenario {
    /// Holds what was measured to the bound, and keeps it for the table.
    ///
    /// # Panics
    /// It took longer than the bound.
    #[track_caller]
    pub fn recovered(&self, engine: Engine, took: Duration) {
        assert!(
            took <= self.bound,
            "{}: {} only after {took:?}, not {:?}",
            self.fault,
            self.until,
            self.bound
        );
        if let Some(folder) = env::var_os(FOLDER) {
            self.keep(Path::new(&folder), engine, took);
        }
    }

    /// A line of fields with tabs between them: number, fault, until, bound in ms, engine, took in ms.
    #[expect(clippy::expect_used, reason = "without the folder there is no table to make")]
    fn keep(&self, folder: &Path, engine: Engine, took: Duration) {
        let Self { number, fault, until, bound } = self;
        let line =
            format!("{number}\t{fault}\t{until}\t{}\t{engine:?}\t{}\n", bound.as_millis(), took.as_millis());
        fs::create_dir_all(folder).expect("the folder can be made");
        fs::write(self.file(folder, engine), line).expect("the folder can be written");
    }

    /// Named by fault and engine, so that a test that is run again replaces its own.
    fn file(&self, folder: &Path, engine: Engine) -> PathBuf {
        let letters =
            self.fault.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
        let fault: String = letters.collect();
        folder.join(format!("{:03}-{fault}-{engine:?}.tsv", self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUT: Scenario = Scenario {
        number: 16,
        fault: "every connection reset",
        until: "all issued",
        bound: Duration::from_secs(5),
    };

    #[test]
    fn what_was_measured_is_a_line_of_its_own() {
        let folder = tempfile::tempdir().expect("there is room");
        CUT.keep(folder.path(), Engine::Sqlite, Duration::from_millis(1_250));
        let kept = fs::read_to_string(CUT.file(folder.path(), Engine::Sqlite)).expect("it is kept");
        assert_eq!(kept, "16\tevery connection reset\tall issued\t5000\tSqlite\t1250\n");
    }

    #[test]
    #[should_panic(expected = "all issued only after 6s, not 5s")]
    fn what_takes_longer_than_its_bound_fails() {
        CUT.recovered(Engine::Sqlite, Duration::from_secs(6));
    }
}
