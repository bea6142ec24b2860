//! What hands out codes: one serial consumer, in sets.
//!
//! [`Serial`] takes what is ready from the issue queue, [`Issue`] is the step that plans and writes the
//! spans. Safety does not rest on there being one: a second issuer waits for the first one's locks and then
//! finds the orders issued. Its caller is the binary; it knows the broker as bytes and the store as sets.

mod alone;
mod copies;
mod letters;
mod message;
mod over;
mod serial;

pub mod issue;
pub mod recover;
pub mod replace;
pub mod rounds;
pub mod void;

pub use copies::{Committed, Copy, MARKS_MAX, OLDER, Seen, same_copy};
pub use issue::{Effects, Issue, IssueOutcome, IssueResult, Work};
pub use message::{Undecodable, decode};
pub use replace::{Replace, ReplaceOutcome, Replacement};
pub use rounds::Mint;
pub use serial::{Serial, SetNote};
pub use void::{Done, Void, VoidOutcome, Voided, Voiding};
