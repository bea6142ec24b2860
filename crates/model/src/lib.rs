//! What Tessera decides, as pure functions over plain values.
//!
//! Nothing here waits, reads, writes, knows the time or draws at random: time, randomness and what the
//! database holds are arguments. The steps in `orders` and `issuer` read a set, call a function of this
//! crate for the decision, and write what it says.

pub mod ids;
pub mod money;
pub mod steady;
pub mod text;
pub mod time;

pub mod order;
pub mod product;

pub mod batch;
pub mod coupon;
pub mod import;
pub mod permutation;
pub mod span;

pub mod draw;
pub mod round;

pub mod issue;
pub mod pay;
pub mod place;
pub mod replace;
pub mod void;

pub mod event;
pub mod keys;
