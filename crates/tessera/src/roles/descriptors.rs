//! File descriptors: every client costs one. A process that has none left can neither take another client nor
//! ask its database for those it has.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a process holds beside clients, connections to its database and the listener for operators: the standard
/// streams, the runtime's own, lock and note, the broker's connections, files being read.
const OTHERS: u64 = 20;

/// A connection to a file is two: the database and its log.
const OF_A_CONNECTION: u64 = 2;

/// Fewer clients than this are not served at once, whatever the limit: better to wait for a descriptor than to
/// serve nobody.
const CLIENTS_MIN: u64 = 8;

/// The most clients of operators at once; further ones wait in the system's queue.
pub(super) const OPERATORS_MAX: u64 = 16;

/// The most clients at once, whatever the limit.
const CLIENTS_MAX: u64 = 16_384;

/// Raises this process's limit to the most it may set for itself; returns what it is now.
///
/// Systems start programs with 1 024, which those that call `select` cannot go beyond; this one does not call it.
pub(super) fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum.unwrap_or(u64::MAX),
        // As some systems do where the most is without end.
        Err(_) => current.unwrap_or(u64::MAX),
    }
}

/// How many clients may be connected at once under a limit, beside so many connections to the database.
pub(super) fn clients(limit: u64, connections: u32) -> u64 {
    // One more connection: the writer of a file.
    let held = OTHERS + OPERATORS_MAX + OF_A_CONNECTION * (u64::from(connections) + 1);
    limit.saturating_sub(held).clamp(CLIENTS_MIN, CLIENTS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_leave_the_database_its_descriptors() {
        assert_eq!(clients(1_024, 10), 1_024 - 20 - 16 - 22);
        assert_eq!(clients(64, 10), CLIENTS_MIN);
        assert_eq!(clients(1_048_576, 10), CLIENTS_MAX);
        assert_eq!(clients(u64::MAX, u32::MAX), CLIENTS_MAX);
    }

    #[test]
    fn the_limit_is_raised_to_what_is_allowed() {
        let limit = raise();
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), limit);
        assert_eq!(raise(), limit);
    }
}
