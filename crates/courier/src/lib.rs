//! What leaves the house: facts published to the issuer, and published again when nobody heard them.
//!
//! There is no outbox table: a paid order is its own outbox. The [`Publisher`] publishes after the commit and
//! may drop what it cannot send; the [`Sweeper`] publishes again, under the same event id, every order that
//! has been paid longer than a bound. What the broker itself gives up on, the [`Archive`] takes away.

mod archive;
mod message;
mod publisher;
mod sweeper;

pub use archive::Archive;
pub use message::message;
pub use publisher::{Counts, Publisher};
pub use sweeper::{Bound, Sweeper};
