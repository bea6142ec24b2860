//! What buyers do to orders: place, pay, cancel; what operators do: refund, accept, cancel; and what time does to them:
//! expire.
//!
//! Each is a step over a set ([`tessera_store::Step`]): lock, read, let `model` decide each input in turn,
//! write in sets, commit once. In front of the steps stands the [`Batcher`], which joins requests that come
//! while a set commits. Publishing what was paid is the courier's business, not ours.

mod batcher;
mod desk;
mod lanes;
mod ledger;
mod shelf;

pub mod expire;
pub mod holds;
pub mod operators;
pub mod pay;
pub mod place;
pub mod refunds;
pub mod release;

pub use batcher::{Batcher, Busy};
pub use desk::{Desk, Failure, Heard};
