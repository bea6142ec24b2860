//! The real binary end to end, a module per story: crowds, kills, imports beside a sale, commands.
//!
//! Needs `cargo build -p tessera` in the same profile. Each test runs on a folder and a port of its own, and
//! ends with `tessera reconcile` and a look through everything that was logged.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what a test did not expect to fail fails it")]

mod cases;
mod chaos;
mod commands;
mod crowd;
mod durability;
mod exporting;
mod faults;
mod first_start;
mod holds;
mod importing;
mod kills;
mod large;
mod points;
mod poison;
mod raffle;
mod restore;
mod servers;
mod slow;
mod split;
mod starting;
mod stopping;
mod sweeping;
