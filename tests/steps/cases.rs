//! What went wrong in other shops, as tests of this one. The list with all of them is `docs/cases.md`: those that another
//! module shows already are tests there.

#![expect(clippy::unwrap_used, reason = "an answer that is not as expected fails its test")]

mod clock;
mod days;
mod expiry;
mod late;
mod notices;
mod privacy;
mod shelf;
mod stock;
